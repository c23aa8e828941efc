import { expect } from "chai";
import { readHtml } from "../../../plugins/tldr/html.ts";
import { ARCHETYPES } from "./archetypes.ts";

describe("the reader of pages", () => {
  it("is measured on 37 kinds of pages", () => {
    expect(Object.keys(ARCHETYPES)).to.have.length(37);
  });

  for (const [name, { html, has, lacks = [], needsScripts = false }] of Object.entries(ARCHETYPES))
    it(`reads ${name}`, async () => {
      const read = await readHtml(html, "https://one.example/page");
      expect(read.needsScripts, "needs scripts").to.equal(needsScripts);
      const text = read.text.replaceAll(/\s+/g, " ");
      for (const wanted of has) expect(text).to.include(wanted.replaceAll(/\s+/g, " "));
      for (const unwanted of lacks) expect(text).not.to.include(unwanted);
    });
});
