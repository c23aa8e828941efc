import { expect } from "chai";
import { run, runRefused } from "./run.ts";
import { type Seller, startSeller } from "./seller.ts";

describe("payphone call with GET", () => {
  let seller: Seller;
  before(async () => {
    seller = await startSeller();
    const properties = {
      word: { type: "string" },
      count: { type: "integer" },
      size: { enum: ["s", "m"] },
      way: { anyOf: [{ type: "string" }, { type: "null" }] },
      days: { type: "array", items: { type: "integer" } },
      place: { type: "object", properties: { x: { type: "integer" } } },
      either: { anyOf: [{ type: "string" }, { type: "array", items: { type: "integer" } }] },
      any: {},
      ids: { anyOf: [{ type: "integer" }, { type: "array", items: { type: "integer" } }] },
      tags: { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" }, uniqueItems: true }] },
      pages: { anyOf: [{ const: "all" }, { type: "array", items: { type: "integer" } }] },
    };
    const fields = { type: "object", properties };
    seller.script.extensions = {
      bazaar: { info: {}, schema: { properties: { input: { properties: { queryParams: fields } } } } },
    };
  });
  after(() => seller.stop());

  for (const [input, fault] of [
    ['{"word":{"a":1}}', "query.word: Input should be a valid string"],
    ['{"word":["a"]}', "query.word: Input should be a valid string"],
    ['{"count":[1]}', "query.count: Input should be a valid integer"],
    ['{"size":["s"]}', "query.size: Input should be 's' or 'm'"],
    ['{"way":{"a":1}}', "query.way: Input should be a valid string"],
    ['{"days":{"a":1}}', "query.days.0: Input should be a valid integer"],
  ] as const)
    it(`refuses ${input}, which the query would hold as a text, before it pays`, async () => {
      expect(await runRefused(seller, 5, { method: "GET", input })).to.equal(
        `payphone: the input does not fit the service's schema:\n  ${fault}\nNothing was paid.`,
      );
    });

  it("takes lists and mappings where the service takes them", async () => {
    for (const input of [
      '{"days":["1"]}',
      '{"days":[1,2]}',
      '{"place":{"x":1}}',
      '{"either":["1"]}',
      '{"any":{"a":[1]}}',
      '{"ids":["1"]}',
      '{"ids":["1","2"]}',
      '{"pages":["1","2"]}',
      '{"tags":["a"]}',
    ]) {
      const { code, err } = await run({ url: seller.url, method: "GET", input });
      expect(code, input + err).to.equal(0);
    }
  });
});
