import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { toHousePage } from "./page.ts";
import { ROOT } from "./sources.ts";

describe("the page about floors and rooms", () => {
  it("is current (if not: npm run house)", () => {
    expect(readFileSync(join(ROOT, "runtime/docs/house.md"), "utf8")).to.equal(toHousePage());
  });
});
