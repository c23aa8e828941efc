import { expect } from "chai";
import { toOpenApi } from "../../../runtime/surfaces/openapi/openapi.ts";
import { BASE_URL, type Loose, showSet } from "../support/fixture-set.ts";

describe("a field in the query of a GET form", () => {
  const place = { type: "object", properties: { x: { type: "integer" }, name: { type: ["string", "null"] } } };
  const integers = { type: "array", items: { type: "integer" } };

  /** The parameters of a service with these fields, and other parts of a schema, without their names. */
  async function shown(properties: Loose, parts: Loose = {}): Promise<Loose> {
    const { set, service } = await showSet();
    const toss = service("toss");
    const services = [{ ...toss, input: { ...toss.input, document: { type: "object", properties, ...parts } } }];
    const made: Loose = toOpenApi({ services, site: set.site, baseUrl: BASE_URL, schemas: set.schemas });
    const { parameters } = made.paths["/v1/toss"].get;
    return Object.fromEntries(parameters.map(({ name, in: _in, required: _, ...rest }: Loose) => [name, rest]));
  }

  it("is a deepObject where it is a mapping of simple values", async () => {
    const rates = { type: "object", additionalProperties: { type: "number" } };
    const loose = { type: "object", properties: { x: true } };
    expect(await shown({ place, rates, loose })).to.deep.equal({
      place: { style: "deepObject", explode: true, schema: place },
      rates: { style: "deepObject", explode: true, schema: rates },
      loose: { style: "deepObject", explode: true, schema: loose },
    });
  });

  it("is a text of JSON where it is nested more deeply, or takes any parts", async () => {
    const fields = {
      meta: { type: "object" },
      trip: { type: "object", properties: { from: place } },
      walk: { type: "object", properties: { days: integers } },
      places: { type: "array", items: place },
      grid: { type: "array", items: integers },
      either: { anyOf: [place, { type: "object", properties: { y: { type: "number" } } }] },
    };
    const asJson = Object.entries(fields).map(([name, contentSchema]) => {
      return [name, { schema: { type: "string", contentMediaType: "application/json", contentSchema } }];
    });
    expect(await shown(fields)).to.deep.equal(Object.fromEntries(asJson));
  });

  it("is a text of JSON where a part contains the whole", async () => {
    const Link = { type: "object", properties: { name: { type: "string" }, next: { $ref: "#/$defs/Link" } } };
    const { link } = await shown({ link: { $ref: "#/$defs/Link" } }, { $defs: { Link } });
    expect(link.schema).to.include({ type: "string", contentMediaType: "application/json" });
  });

  it("is a parameter wherever it stands in the schema", async () => {
    const [a, b, n] = [{ properties: { a: { type: "string" } } }, { properties: { b: integers } }, { type: "integer" }];
    const parameters = await shown({ n }, { allOf: [a], oneOf: [b, { properties: { n: { maximum: 5 } } }] });
    expect(parameters).to.deep.equal({
      n: { schema: { allOf: [n, { maximum: 5 }] } },
      a: { schema: { type: "string" } },
      b: { schema: integers },
    });
  });

  it("is itself where it is simple, a list of simple values, or may be a text", async () => {
    const fields = {
      count: { type: "integer" },
      days: integers,
      where: { anyOf: [{ type: "string" }, place] },
      marks: { type: "array", items: { anyOf: [{ type: "string" }, place] } },
      any: {},
    };
    const simple = Object.entries(fields).map(([name, schema]) => [name, { schema }]);
    expect(await shown(fields)).to.deep.equal(Object.fromEntries(simple));
  });
});
