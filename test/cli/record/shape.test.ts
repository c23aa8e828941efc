import { expect } from "chai";
import { compareShapes, shapeOf } from "../../../runtime/cli/record/shape.ts";

const ADDRESSES = ["0xdAC17F958D2ee523a2206206994597C13D831ec7", "0x0000000000000000000000000000000000000001"];
const MINTS = ["EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", "So11111111111111111111111111111111111111112"];

const compare = (old: unknown, now: unknown): string[] =>
  compareShapes(shapeOf(JSON.stringify(old)), shapeOf(JSON.stringify(now)));

describe("the shape of an answer", () => {
  it("is the same whatever its values and the order of its fields", () => {
    expect(compare({ a: 1, b: { c: "x", d: null } }, { b: { d: null, c: "y" }, a: 2.5 })).to.deep.equal([]);
  });

  it("changes with a field that comes, goes, or has another type", () => {
    expect(compare({ a: 1, b: { c: "x" }, d: true }, { a: "1", b: { e: [] }, d: true })).to.deep.equal([
      "+ b.e",
      "- b.c",
      "a: string, was number",
    ]);
  });

  it("changes with a null where none was", () => {
    expect(compare({ a: "x" }, { a: null })).to.deep.equal(["a: null, was string"]);
    expect(compare([{ a: "x" }], [{ a: "x" }, { a: null }])).to.deep.equal(["[].a: null or string, was string"]);
  });

  it("is that of all elements of a list together", () => {
    expect(compare({ list: [{ a: 1 }, { b: 1 }] }, { list: [{ b: 2, a: 1 }] })).to.deep.equal([]);
    expect(compare({ list: [[1]] }, { list: [["x"]] })).to.deep.equal(["list[][]: string, was number"]);
    expect(compare({ list: [1] }, { list: [] })).to.deep.equal(["- list[]"]);
  });

  for (const [one = "", other = ""] of [ADDRESSES, MINTS, ["0xa9059cbb", "0x095ea7b3"], ["1", "8453"]])
    it(`does not depend on a key that is data, such as ${one}`, () => {
      expect(compare({ [one]: { usd: 1 } }, { [other]: { usd: 2 } })).to.deep.equal([]);
      expect(compare({ [one]: { usd: 1 } }, { [other]: { usd: "1" } })).to.deep.equal(["*.usd: string, was number"]);
    });

  it("depends on a key that is a word, however long", () => {
    expect(compare({ include_market_cap_change_in_24h_currency: 1 }, {})).to.have.length(1);
    expect(compare({ theCounterpartyGraphOfThisAddresses: 1 }, {})).to.deep.equal([
      "- theCounterpartyGraphOfThisAddresses",
    ]);
  });

  it("is that of the elements where the answer is XML", () => {
    const list = (entry: string): string => `<?xml version="1.0"?><list><entry>${entry}</entry></list>`;
    const [old, same, other] = [list("<id>1</id>"), list("<id>2</id><id>3</id>"), list("<uid>1</uid>")].map(shapeOf);
    expect(compareShapes(old ?? new Map(), same ?? new Map())).to.deep.equal([]);
    expect(compareShapes(old ?? new Map(), other ?? new Map())).to.deep.equal(["+ list/entry/uid", "- list/entry/id"]);
  });

  it("is only text where the answer is neither", () => {
    const [page, line, empty] = ["<html><br>", "OK", ""].map(shapeOf);
    expect(compareShapes(page ?? new Map(), line ?? new Map())).to.deep.equal([]);
    expect(compareShapes(line ?? new Map(), empty ?? new Map())).to.deep.equal([]);
    expect(compareShapes(shapeOf("{}"), page ?? new Map())).to.deep.equal(["the body: text, was object"]);
  });
});
