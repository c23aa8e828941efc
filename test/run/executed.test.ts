import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect } from "chai";
import { createFolder } from "../support/folder.ts";
import { readReports } from "./executed.ts";

describe("what processes tell of the code that they have run", () => {
  it("is read although one of them was killed while it wrote", () => {
    const folder = createFolder();
    const range = { startOffset: 0, endOffset: 9, count: 1 };
    const url = pathToFileURL(join(folder, "one.ts")).href;
    const whole = JSON.stringify({ result: [{ url, functions: [{ ranges: [range] }] }] });
    writeFileSync(join(folder, "ended.json"), whole);
    writeFileSync(join(folder, "killed.json"), whole.slice(0, 40));
    writeFileSync(join(folder, "killed-at-once.json"), "");
    expect(readReports(folder, folder)).to.deep.equal([{ file: "one.ts", ranges: [range] }]);
  });
});
