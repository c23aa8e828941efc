import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { createFolder } from "../support/folder.ts";
import { boundCompileCache } from "./compile-cache.ts";

describe("the compiled code that runs of the tests keep", () => {
  it("is kept until it is too much, and then begun anew", () => {
    const dir = createFolder();
    boundCompileCache(join(dir, "cache"), 3);
    const version = join(dir, "cache", "v24");
    mkdirSync(version, { recursive: true });
    for (const name of ["a", "b"]) writeFileSync(join(version, name), "");
    boundCompileCache(join(dir, "cache"), 3);
    expect(readdirSync(version)).to.deep.equal(["a", "b"]);
    writeFileSync(join(version, "c"), "");
    boundCompileCache(join(dir, "cache"), 3);
    expect(readdirSync(dir)).to.deep.equal([]);
  });
});
