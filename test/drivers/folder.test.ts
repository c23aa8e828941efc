import { spawnSync } from "node:child_process";
import { chownSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { makeFile, makeFolder } from "../../runtime/drivers/folder.ts";
import { itAsRoot } from "../support/as-root.ts";
import { createFolder } from "../support/folder.ts";

describe("a folder that is made", () => {
  let dir: string;
  beforeEach(() => {
    dir = createFolder();
  });

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

describe("a file that is made", () => {
  let dir: string;
  let file: string;
  beforeEach(() => {
    dir = createFolder();
    file = join(dir, "file");
  });

  it("is for its user alone, and stays as it is when it exists", () => {
    makeFile(file, "first");
    makeFile(file, "second");
    expect(readFileSync(file, "utf8")).to.equal("first");
    expect(statSync(file).mode & 0o777).to.equal(0o600);
  });

  itAsRoot("is the folder's user's when root makes it; root gives away nothing that exists", () => {
    chownSync(dir, 65_534, 65_533);
    writeFileSync(join(dir, "mine"), "");
    symlinkSync(join(dir, "mine"), join(dir, "link"));
    makeFile(file);
    makeFile(join(dir, "link"));
    expect(statSync(file)).to.include({ uid: 65_534, gid: 65_533 });
    expect(statSync(join(dir, "mine"))).to.include({ uid: 0 });
  });
});
