import { parse } from "node:querystring";
import { expect } from "chai";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { toQueryPairs } from "../../../runtime/surfaces/schema/path-fields.ts";

describe("an input in the query of a GET", () => {
  const integers = { type: "array", items: { type: "integer" } };
  const place = { type: "object", properties: { x: { type: "integer" }, days: integers } };
  const schema = createCompiler(new Map())({
    type: "object",
    properties: {
      days: integers,
      grid: { type: "array", items: integers },
      place,
      places: { type: "array", items: place },
      notes: { type: "array", items: { type: "string" } },
    },
  });

  it("is read as it was meant", () => {
    for (const input of [
      { grid: [[1, 2], [3]], days: [1, 2] },
      { grid: [[1, 2]], days: [1] },
      { grid: [[]], notes: ["[1]", ""] },
      { place: { x: 1, days: [2] }, places: [{ x: 1 }] },
      { places: [{ x: 1 }, { days: [2] }] },
    ])
      expect(
        schema.coerce(parse(String(new URLSearchParams(toQueryPairs(input))))),
        JSON.stringify(input),
      ).to.deep.equal(input);
  });
});
