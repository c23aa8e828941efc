import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { expect } from "chai";
import { createFolder } from "../support/folder.ts";

const SCRIPT = join(import.meta.dirname, "deps.ts");
/** An npm that notes what it is asked about. */
const NPM = '#!/bin/sh\necho "$2" >> "$ASKED"\necho "{}"\n';

describe("npm run deps -- --ages", () => {
  let folder: string;
  before(async () => {
    folder = createFolder();
    await writeFile(join(folder, "npm"), NPM, { mode: 0o755 });
  });

  it("asks the registry about its packages, by their own names, and not about folders of this repository", async () => {
    const asked = join(folder, "asked");
    const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, ASKED: asked };
    const { stdout } = await promisify(execFile)(process.execPath, [SCRIPT, "--ages"], { env });
    expect(stdout).to.match(/ express \d\S+ .*age unknown/);
    expect(stdout).to.match(/ node24 /);
    const names = await readFile(asked, "utf8");
    expect(names).to.match(/^express@\d/m);
    expect(names).to.match(/^@a2a-js\/sdk@0\.3\.14$/m);
    expect(names).not.to.match(/^(?:node24|rpc-websockets|a2a-js-03)@/m);
  });
});
