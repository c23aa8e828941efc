import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
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

/** A plugin whose setup ends when the file `go` is there. */
const toSlow = (begun: string, go: string): string => `import { existsSync, writeFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { definePlugin } from "#plugin";

export default definePlugin("toss", async () => {
  writeFileSync("${begun}", "");
  while (!existsSync("${go}")) await sleep(50);
  return { toss: () => ({ sides: [] }) };
});
`;

/** What Node does when the memory does not suffice for another process. */
const NO_MEMORY = `import { ChildProcess } from "node:child_process";
ChildProcess.prototype.spawn = () => { throw new Error("spawn ENOMEM"); };`;

/** A server whose plugin is being set up: it goes on once the file `go` is there. */
async function startSlowly(command: "serve" | "sandbox", ...options: readonly string[]) {
  const data = createFolder();
  const [begun, go] = [join(data, "begun"), join(data, "go")];
  const { env } = await sharedSandbox();
  const dir = await makeDirectory({ ...toShop([]), "plugins/toss.ts": toSlow(begun, go) });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const place = { PORT: `${port}`, PUBLIC_BASE_URL: url, PAYPHONE_DATA_DIR: data };
  const seller = spawn(process.execPath, [LAUNCHER, command, "--dir", dir, ...options], {
    stdio: ["ignore", "pipe", "ignore"],
    env: { ...INHERITED, ...env, ...place },
  });
  const gone = once(seller, "exit");
  let log = "";
  seller.stdout.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  await eventually(() => existsSync(begun));
  const end = (): Promise<unknown[]> => Promise.race([gone, sleep(20_000, ["goes on"], { ref: false })]);
  return { seller, log: () => log, letGo: () => writeFileSync(go, ""), end };
}

describe("serve, while it starts", () => {
  for (const options of [[], ["--workers", "2"]]) {
    const how = ["serve", ...options].join(" ");

    it(`ends when it is told to, as ${how}`, async () => {
      const { seller, end } = await startSlowly("serve", ...options);
      seller.kill("SIGTERM");
      const ended = await end();
      seller.kill("SIGKILL"); // Its worker ends with it.
      expect(ended).to.deep.equal([0, null]);
    });

    it(`keeps a SIGHUP until it sells, as ${how}`, async () => {
      const { seller, log, letGo, end } = await startSlowly("serve", ...options);
      seller.kill("SIGHUP");
      letGo();
      await eventually(() => log().includes("set.unchanged") || seller.exitCode !== null || seller.signalCode !== null);
      seller.kill("SIGTERM");
      const ended = await end();
      seller.kill("SIGKILL");
      expect(ended).to.deep.equal([0, null]);
    });
  }

  it("says that no process can be started", () => {
    const NODE_OPTIONS = `--import data:text/javascript,${encodeURIComponent(NO_MEMORY)}`;
    const env = { ...INHERITED, NODE_OPTIONS, PAYPHONE_DATA_DIR: createFolder() };
    const args = [LAUNCHER, "serve", "--workers", "2"];
    const { status, stderr } = spawnSync(process.execPath, args, { env, encoding: "utf8", timeout: 30_000 });
    expect([status, stderr]).to.deep.equal([1, "payphone: a worker cannot be started: spawn ENOMEM\n"]);
  });
});

describe("a sandbox, while it starts", () => {
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
    it(`ends in order on ${signal}, also as the first process of a container`, async () => {
      const { seller, end } = await startSlowly("sandbox");
      seller.kill(signal);
      const ended = await end();
      seller.kill("SIGKILL");
      expect(ended).to.deep.equal([0, null]); // It has listened. Without that, the signal would be named here.
    });
});
