import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { COMMAND, GOLDEN, toGolden } from "./support/golden.ts";

describe("the golden documents", () => {
  let made: ReadonlyMap<string, string>;
  before(async () => {
    made = await toGolden();
  });

  it("are all there, and no others", () => {
    const names = readdirSync(GOLDEN).map((file) => file.replace(/\.golden$/, ""));
    expect(names, COMMAND).to.have.members([...made.keys()]);
  });

  it("are what is made of the fixtures", () => {
    for (const [name, text] of made) {
      const file = readFileSync(join(GOLDEN, `${name}.golden`), "utf8");
      expect(text, `${name} (if it is meant to change: ${COMMAND})`).to.equal(file);
    }
  });

  it("are the same whenever they are made", async () => {
    expect([...(await toGolden())]).to.deep.equal([...made]);
  });
});
