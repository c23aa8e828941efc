import { mkdir, symlink, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import { diffCode } from "../../../runtime/cli/history/diff.ts";
import { readFolder } from "../../../runtime/cli/history/folder.ts";
import { edit, makeDirectory, TOSS, writeFiles } from "../../core/set/served-directory.ts";

describe("the files of a set", () => {
  it("are also those of the shop that plugins import, and none outside of it", async () => {
    const outside = await makeDirectory({ "own.ts": "export const own = 1;\n" });
    const lead = `import "../lib/side.ts";\nimport "${outside}/own.ts";\n`;
    const dir = await makeDirectory({
      ...edit(TOSS, "plugins/toss.ts", "import", `${lead}import`),
      "lib/side.ts": "1;\n",
    });
    await writeFiles(dir, { "lib/unused.ts": "2;\n" });
    const { digest, files } = readFolder(dir);
    expect([...files.keys()]).to.deep.equal(["lib/side.ts", ...Object.keys(TOSS)].sort());
    await writeFiles(dir, { "lib/side.ts": "3;\n" });
    expect(readFolder(dir).digest).not.to.equal(digest);
  });

  it("differ where something that is no file stands among manifests or schemas", async () => {
    const dir = await makeDirectory(TOSS);
    const { digest } = readFolder(dir);
    await mkdir(join(dir, "schemas/old"));
    const other = readFolder(dir).digest;
    expect(other).not.to.equal(digest);
    for (const place of ["manifests/round.yaml", "plugins/round.ts"]) await symlink(join(dir, place), join(dir, place));
    expect(readFolder(dir).digest, "links that lead to themselves").not.to.equal(other);
  });

  it("are not read where they would fill the memory", async () => {
    const dir = await makeDirectory(TOSS);
    await writeFile(join(dir, "plugins/model.bin"), "");
    await truncate(join(dir, "plugins/model.bin"), 300_000_000);
    expect(() => readFolder(dir)).to.throw(
      /have 300 MB, and 256 MB .* the largest is plugins\/model\.bin with 300 MB$/,
    );
  });

  it("are told apart one by one, but for those that are compared in other words", () => {
    const before = { "plugins/a.ts": "1", "plugins/b.ts": "1", "lib/c.ts": "1", "manifests/d.yaml": "1" };
    const { "plugins/a.ts": _, ...rest } = before;
    const after = { ...rest, "plugins/b.ts": "2", "manifests/d.yaml": "2", "plugins/e.ts": "1" };
    const [one, two] = [before, after].map((digests) => new Map(Object.entries(digests))) as [
      Map<string, string>,
      Map<string, string>,
    ];
    const said = diffCode(one, two).map(({ kind, text }) => `${kind}: ${text}`);
    expect(said).to.deep.equal(
      ["plugins/a.ts is gone", "plugins/b.ts changed", "plugins/e.ts is new"].map((text) => `code: ${text}`),
    );
  });
});
