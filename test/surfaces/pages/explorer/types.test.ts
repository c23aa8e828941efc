import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "../../../..");

describe("the explorer's scripts", () => {
  it("say what they take and give, and keep to it", async () => {
    const tsc = join(ROOT, "node_modules/.bin/tsc");
    const project = join(ROOT, "runtime/surfaces/pages/explorer");
    const { stdout } = await run(tsc, ["-p", project], { env: process.env }).catch((error) => error);
    expect(stdout).to.equal("");
  });
});
