import { spawn } from "node:child_process";
import { on, once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { expect } from "chai";
import packageJson from "../../package.json" with { type: "json" };
import { makeDirectory, TOSS } from "../core/set/served-directory.ts";
import { createFolder } from "../support/folder.ts";

const ROOT = join(import.meta.dirname, "../..");

/** The URL that the server prints. */
async function addressOf(output: Readable): Promise<string> {
  for await (const [line] of on(createInterface(output), "line", { close: ["close"] })) {
    const [, url] = /^listening on (\S+)/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error("it never listened");
}

/** Kills a server that npm left running. */
function killGroup(pid: number): void {
  try {
    process.kill(-pid, "SIGKILL");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
  }
}

describe("the npm scripts that serve", () => {
  let dataDir: string;
  before(() => {
    dataDir = createFolder();
  });

  it("put the server in the shell's place, so that it gets npm's signals", () => {
    const { start, serve } = packageJson.scripts;
    for (const script of [start, serve]) expect(script).to.match(/^exec node /);
    const shop = readFileSync(join(ROOT, "runtime/cli/init/shop/package.json.txt"), "utf8");
    expect(shop).to.include('"start": "exec payphone sandbox"').and.to.include('"serve": "exec payphone serve"');
  });

  it("stop the server in order when npm is told to stop, and end with its exit code", async () => {
    const env = { ...process.env, PORT: "0", PAYPHONE_DATA_DIR: dataDir };
    const small = ["--", "--dir", await makeDirectory(TOSS)];
    const npm = spawn("npm", ["start", ...small], {
      cwd: ROOT,
      env,
      stdio: ["ignore", "pipe", "ignore"],
      detached: true,
    });
    try {
      const url = await addressOf(npm.stdout);
      npm.kill("SIGTERM");
      expect(await once(npm, "exit")).to.deep.equal([0, null]);
      expect(await fetch(`${url}/health`).catch((error: Error) => error.message)).to.equal("fetch failed");
    } finally {
      killGroup(npm.pid!);
    }
  });
});
