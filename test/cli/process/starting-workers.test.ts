import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "chai";
import { makeDirectory } from "../../core/set/served-directory.ts";
import { toShop } from "../../rails/shop.ts";
import { sharedSandbox } from "../../support/chains/chains.ts";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { INHERITED } from "../../support/inherited.ts";

/** A plugin whose setup never ends. */
const toEndless = (begun: string): string => `import { writeFileSync } from "node:fs";
import { definePlugin } from "#plugin";

export default definePlugin("toss", async () => {
  writeFileSync("${begun}", "");
  return new Promise(() => setInterval(() => {}, 1000));
});
`;

/** What Node does when the memory does not suffice for another process. */
const NO_MEMORY = `import { ChildProcess } from "node:child_process";
ChildProcess.prototype.spawn = () => { throw new Error("spawn ENOMEM"); };`;

describe("serve --workers, while the first of them starts", () => {
  it("ends when it is told to", async () => {
    const data = createFolder();
    const begun = join(data, "begun");
    const { env } = await sharedSandbox();
    const dir = await makeDirectory({ ...toShop([]), "plugins/toss.ts": toEndless(begun) });
    const port = await findFreePort();
    const place = { PORT: `${port}`, PUBLIC_BASE_URL: `http://127.0.0.1:${port}`, PAYPHONE_DATA_DIR: data };
    const seller = spawn(process.execPath, [LAUNCHER, "serve", "--dir", dir, "--workers", "2"], {
      stdio: "ignore",
      env: { ...INHERITED, ...env, ...place },
    });
    const gone = once(seller, "exit");
    await eventually(() => existsSync(begun));
    seller.kill("SIGTERM");
    const [code] = await Promise.race([gone, sleep(20_000, ["goes on"], { ref: false })]);
    seller.kill("SIGKILL"); // Its worker ends with it.
    expect(code).to.equal(0);
  });

  it("says that no process can be started", () => {
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(NO_MEMORY)}`;
    const env = { ...INHERITED, NODE_OPTIONS, PAYPHONE_DATA_DIR: createFolder() };
    const args = [LAUNCHER, "serve", "--workers", "2"];
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: 30_000 });
    expect([status, stderr]).to.deep.equal([1, "payphone: a worker cannot be started: spawn ENOMEM\n"]);
  });
});
