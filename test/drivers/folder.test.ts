import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { makeFolder } from "../../runtime/drivers/folder.ts";

describe("a folder that is made", () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), "payphone-folder-"));
  });
  afterEach(() => rmSync(dir, { recursive: true }));

  it("is made with those above it, and may exist", () => {
    const path = join(dir, "a/b/c");
    makeFolder(path, 0o700);
    makeFolder(path, 0o700);
    for (const made of ["a", "a/b", "a/b/c"]) expect(statSync(join(dir, made)).mode & 0o777, made).to.equal(0o700);
  });

  it("may be a link to a folder", () => {
    symlinkSync(dir, join(dir, "link"));
    makeFolder(join(dir, "link"));
    makeFolder(join(dir, "link/a"));
    expect(statSync(join(dir, "a")).isDirectory()).to.equal(true);
  });

  it("is refused below a file, and at a link that leads nowhere", () => {
    writeFileSync(join(dir, "file"), "");
    symlinkSync(join(dir, "gone"), join(dir, "link"));
    expect(() => makeFolder(join(dir, "file"))).to.throw("EEXIST");
    expect(() => makeFolder(join(dir, "file/a"))).to.throw("ENOTDIR");
    expect(() => makeFolder(join(dir, "link/a"))).to.throw("EEXIST");
  });

  it("is refused in /proc, where the recursive mkdir of Node never ends", function () {
    if (process.platform !== "linux") this.skip();
    const module = JSON.stringify(new URL("../../runtime/drivers/folder.ts", import.meta.url).href);
    const script = `import(${module}).then(({ makeFolder }) => makeFolder("/proc/payphone/spending"))`;
    const { status, stderr } = spawnSync(process.execPath, ["-e", script], {
      timeout: 60_000,
      killSignal: "SIGKILL",
      encoding: "utf8",
    });
    expect(stderr).to.contain("ENOENT");
    expect(status).to.equal(1);
  });
});
