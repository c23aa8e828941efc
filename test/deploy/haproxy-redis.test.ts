import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@keyv/redis";
import { expect } from "chai";
import type { OpenStore } from "../../runtime/drivers/store/keyv.ts";
import { openStore } from "../../runtime/drivers/store/open-store.ts";
import { ROOT } from "../core/set/served-directory.ts";
import { findProgram } from "../run/programs.ts";
import { eventually } from "../support/eventually.ts";
import { createFolder } from "../support/folder.ts";
import { findFreePort } from "../support/free-port.ts";
import { withProgram, withRedis } from "../support/programs.ts";
import { startRedis, type TestRedis } from "../support/store/redis.ts";

withRedis.describe("the haproxy in front of Redis", () => {
  let folder: string;
  const all: TestRedis[] = [];
  let haproxy: ChildProcess | undefined;
  before(async () => {
    folder = createFolder();
    all.push(await startRedis(), await startRedis());
  });
  after(async () => {
    if (haproxy?.exitCode === null) {
      const gone = once(haproxy, "exit");
      haproxy.kill("SIGKILL");
      await gone;
    }
    for (const redis of all) await redis.stop();
  });

  withProgram("haproxy").it(
    "leads to the replica that has become the master, and away from the former one",
    async () => {
      const [master, replica] = all.map(({ url }) => new URL(url)) as [URL, URL];
      const former = createClient({ url: master.href });
      await former.connect();
      const operator = createClient({ url: replica.href });
      await operator.connect();
      const settings = { "min-replicas-to-write": "1", "min-replicas-max-lag": "10", "repl-diskless-sync-delay": "0" };
      for (const client of [former, operator]) await client.configSet(settings);
      await operator.sendCommand(["REPLICAOF", master.hostname, master.port]);
      const port = await findFreePort();
      const text = readFileSync(join(ROOT, "runtime/deploy/haproxy-redis.cfg"), "utf8")
        .replaceAll("127.0.0.1:6380", `127.0.0.1:${port}`)
        .replace("10.0.0.1:6379", master.host)
        .replace("10.0.0.2:6379", replica.host)
        .replace(/.* redis-3 .*\n/, "")
        .replace("inter 1s", "inter 100ms");
      const file = join(folder, "haproxy.cfg");
      writeFileSync(file, text);
      haproxy = spawn(findProgram("haproxy") ?? "haproxy", ["-db", "-f", file], { stdio: "ignore" });
      const redisUrl = `redis://127.0.0.1:${port}`;
      // It leads to either until it has asked both.
      const store = (await eventually(() =>
        openStore({ redisUrl, dataDir: "/nowhere" }).catch(() => undefined),
      )) as OpenStore;
      await store.set("a", 1);
      await eventually(async () => (await operator.get("payphone::a")) !== null);

      await operator.sendCommand(["REPLICAOF", "NO", "ONE"]);
      await former.sendCommand(["REPLICAOF", replica.hostname, replica.port]);
      await eventually(() =>
        store.ping().then(
          () => true,
          () => false,
        ),
      );
      expect(await store.get("a")).to.equal(1);
      expect(store.warnings()[0]).to.match(/^A replica has become Redis's master/);
      await store.close();
      await Promise.all([former.close(), operator.close()]);
    },
  );
});
