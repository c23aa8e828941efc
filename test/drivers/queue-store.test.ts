import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { testQueue } from "../support/queue-suite.ts";
import { createDataDir } from "../support/seller.ts";

testQueue("SQLite", async () => {
  const { path, remove } = createDataDir();
  let lock: DatabaseSync | undefined;
  return {
    place: { dataDir: path },
    outage: {
      async begin() {
        lock = new DatabaseSync(join(path, "payphone.sqlite"), { timeout: 1000 });
        lock.exec("BEGIN IMMEDIATE");
      },
      async end() {
        lock?.close();
      },
    },
    dispose: async () => remove(),
  };
});
