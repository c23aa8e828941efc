import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { boundCompileCache } from "./compile-cache.ts";

describe("the compiled code that runs of the tests keep", () => {
  it("is kept until it is too much, and then begun anew", () => {
    const dir = mkdtempSync(join(tmpdir(), "payphone-compiled-"));
    try {
      boundCompileCache(join(dir, "cache"), 3);
      const version = join(dir, "cache", "v24");
      mkdirSync(version, { recursive: true });
      for (const name of ["a", "b"]) writeFileSync(join(version, name), "");
      boundCompileCache(join(dir, "cache"), 3);
      expect(readdirSync(version)).to.deep.equal(["a", "b"]);
      writeFileSync(join(version, "c"), "");
      boundCompileCache(join(dir, "cache"), 3);
      expect(readdirSync(dir)).to.deep.equal([]);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });
});
