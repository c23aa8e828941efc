import { parse } from "node:querystring";
import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { convertTexts } from "../../../runtime/core/schema/query-texts.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";

const compile = createCompiler(new Map());
const object = (properties: object): object => ({ type: "object", properties });

describe("the texts of a query", () => {
  const schema = compile(
    object({
      count: { type: "integer", minimum: 1, default: 1 },
      share: { type: "number" },
      deep: { type: "boolean" },
      name: { type: ["string", "null"] },
      tags: { type: "array", items: { type: "integer" } },
      limit: { anyOf: [{ type: "integer" }, { type: "null" }] },
    }),
  );
  const read = (texts: Record<string, unknown>): unknown => schema.check(schema.coerce(texts), "query").value;

  it("become values of the schema's types", () => {
    expect(read({ count: "5", share: "0.5", deep: "true", name: "5", limit: "7" })).to.deep.equal({
      count: 5,
      share: 0.5,
      deep: true,
      name: "5",
      limit: 7,
    });
  });

  it("become booleans as pydantic reads them, where the schema wants one", () => {
    for (const [text, deep] of Object.entries({ True: true, FALSE: false, 1: true, 0: false, yes: true, Off: false }))
      expect(read({ deep: text, name: text })).to.deep.equal({ count: 1, deep, name: text });
    expect(read({ count: "1", limit: "0" })).to.deep.equal({ count: 1, limit: 0 });
    const mixed = compile(
      object({ flag: { type: ["boolean", "string"] }, sure: { const: true }, "a/~b": { const: false } }),
    );
    const texts = { flag: "True", sure: "True", "a/~b": "No" };
    expect(mixed.coerce(texts)).to.deep.equal({ flag: "True", sure: true, "a/~b": false });
  });

  it("stay words that mean a boolean where the schema takes them as they are", () => {
    const country = { anyOf: [{ type: "boolean" }, { type: "string" }] };
    const mode = { oneOf: [{ type: "boolean" }, { enum: ["on", "auto"] }] };
    const texts = compile(object({ country, mode }));
    expect(texts.coerce({ country: "no", mode: "on" })).to.deep.equal({ country: "no", mode: "on" });
    expect(texts.coerce({ mode: "off" })).to.deep.equal({ mode: false });
  });

  it("are lists of booleans, as single ones are written", () => {
    const flags = { type: "array", items: { type: "boolean" } };
    const listed = compile({
      type: "object",
      properties: { flags, words: { type: "array", items: { type: "string" } } },
    });
    expect(listed.coerce({ flags: ["True", "false", "0"] })).to.deep.equal({ flags: [true, false, false] });
    expect(listed.coerce({ flags: "yes", words: ["no"] })).to.deep.equal({ flags: [true], words: ["no"] });
    const { issues } = listed.check(listed.coerce({ flags: ["yes", "maybe"] }), "query");
    expect(issues.map(({ loc, input }) => [loc, input])).to.deep.equal([[["query", "flags", 1], "maybe"]]);
  });

  it("are tried as JSON and as booleans once each, however many do not fit", () => {
    const words = { yes: { type: "boolean" }, one: { type: "integer" } };
    const list = (items: object): object => ({ type: "array", items });
    const properties = { yes: list(words.yes), one: list(words.one) };
    const compiled = new Ajv2020({ allErrors: true, coerceTypes: "array" }).compile(object(properties));
    let [tries, parsed] = [0, 0];
    const convert = new Proxy(compiled, {
      apply: (target, _, [value]) => {
        tries += 1;
        return target(value);
      },
    });
    const { parse: parseJson } = JSON;
    JSON.parse = (text: string) => {
      parsed += 1;
      return parseJson(text);
    };
    try {
      for (const word of ["yes", "one"])
        convertTexts({ [word]: Array(100).fill(word) }, { isField: () => true, convert });
    } finally {
      JSON.parse = parseJson;
    }
    expect({ tries, parsed }).to.deep.equal({ tries: 3, parsed: 200 });
  });

  it("become the numbers and booleans that a schema lists without naming their type", () => {
    const properties = { level: { $ref: "Level.json" }, sure: { const: true }, mixed: { enum: [1, "one"] } };
    const levels = { type: "array", items: { enum: [1, 2, null] } };
    const listed = createCompiler(new Map([["Level", { enum: [1, 2] }]]))(object({ ...properties, levels }));
    const texts = { level: "2", sure: "true", mixed: "one", levels: ["1", "2"] };
    const { value, issues } = listed.check(listed.coerce(texts), "query");
    expect({ value, issues }).to.deep.equal({
      value: { level: 2, sure: true, mixed: "one", levels: [1, 2] },
      issues: [],
    });
    expect(listed.check({ level: "2" }, "body").issues, "in a body, a text stays a text").to.have.length(1);
  });

  it("stay the 0 and the false that they are where null would do as well", () => {
    const nothing = { type: "null" };
    const optional = createCompiler(new Map([["Count", { anyOf: [{ type: "integer" }, nothing] }]]))(
      object({
        skip: { anyOf: [{ type: "integer" }, nothing] },
        deep: { anyOf: [{ type: "boolean" }, nothing], default: true },
        share: { oneOf: [{ type: "number" }, nothing] },
        count: { $ref: "Count.json" },
        sum: { anyOf: [{ type: "integer" }, { type: "boolean" }] },
      }),
    );
    const texts = { skip: "0", deep: "false", share: "0", count: "0", sum: "1" };
    expect(optional.check(optional.coerce(texts), "query", "input").value).to.deep.equal({
      skip: 0,
      deep: false,
      share: 0,
      count: 0,
      sum: 1,
    });
  });

  it("become a list where the schema says so, repeated or not", () => {
    expect(read({ tags: "1" })).to.deep.include({ tags: [1] });
    expect(read({ tags: ["1", "2"] })).to.deep.include({ tags: [1, 2] });
  });

  it("stay texts where they do not fit, and are reported as they were sent", () => {
    const texts = { count: "many", share: "", deep: "maybe", name: ["a", "b"], tags: ["1", "x"] };
    const issues = schema.check(schema.coerce(texts), "query").issues;
    expect(issues.map(({ type, loc, input }) => [type, loc.join("."), input])).to.deep.equal([
      ["int_parsing", "query.count", "many"],
      ["float_parsing", "query.share", ""],
      ["bool_parsing", "query.deep", "maybe"],
      ["string_type", "query.name", ["a", "b"]],
      ["int_parsing", "query.tags.1", "x"],
    ]);
  });

  it("that are empty stay empty texts, or become null where it is allowed", () => {
    expect(read({ name: "", limit: "" })).to.deep.equal({ count: 1, name: "", limit: null });
  });

  it("are checked against the bounds of the numbers that they become", () => {
    const { issues } = schema.check(schema.coerce({ count: "0" }), "query");
    expect(issues).to.deep.include({
      type: "greater_than_equal",
      loc: ["query", "count"],
      msg: "Input should be greater than or equal to 1",
      input: 0,
      ctx: { ge: 1 },
    });
  });

  it("are not changed themselves, and get no defaults", () => {
    const texts = { share: "0.5", tags: ["1"] };
    expect(schema.coerce(texts)).to.deep.equal({ share: 0.5, tags: [1] });
    expect(texts).to.deep.equal({ share: "0.5", tags: ["1"] });
  });

  describe("of a mapping, or of a list in a list", () => {
    const place = object({ x: { type: "integer" }, sure: { type: "boolean" }, name: { type: ["string", "null"] } });
    const nested = compile(
      object({
        place: { anyOf: [place, { type: "null" }] },
        places: { type: "array", items: place },
        grid: { type: "array", items: { type: "array", items: { type: "integer" } } },
        days: { type: "array", items: { type: "integer" } },
        rates: { anyOf: [{ type: "object", additionalProperties: { type: "number" } }, { type: "null" }] },
        meta: { type: "object" },
        note: { type: "string" },
        count: { type: "integer", default: 1 },
      }),
    );
    const given = (query: string) => {
      const { value, issues } = nested.check(nested.coerce(parse(query)), "query", "input");
      return issues.length > 0 ? issues.map(({ type, loc }) => `${loc.join(".")}: ${type}`) : value;
    };

    it("are read as JSON", () => {
      const [first, second] = [{ x: 1, name: "5" }, { x: 2 }].map((one) => JSON.stringify(one));
      expect(given(`place=${first}`)).to.deep.equal({ count: 1, place: { x: 1, name: "5" } });
      for (const query of [`places=${first}&places=${second}`, `places=[${first},${second}]`])
        expect(given(query), query).to.deep.equal({ count: 1, places: [{ x: 1, name: "5" }, { x: 2 }] });
      expect(given(`places=${second}`)).to.deep.equal({ count: 1, places: [{ x: 2 }] });
      for (const query of ["grid=[1,2]&grid=[3]", "grid=[[1,2],[3]]"])
        expect(given(query), query).to.deep.equal({ count: 1, grid: [[1, 2], [3]] });
      expect(given("days=[1,2]")).to.deep.equal({ count: 1, days: [1, 2] });
    });

    it("that are JSON are checked as the rest", () => {
      expect(given('place={"x":"1"}')).to.deep.equal(["query.place.x: int_parsing"]);
      expect(given('place={"x":1')).to.deep.equal(["query.place: model_attributes_type"]);
      expect(given(`place=${"[".repeat(4000)}${"]".repeat(4000)}`)).to.deep.equal([
        "query.place: model_attributes_type",
      ]);
    });

    it("are read from the names that axios, PHP and generated clients give to the parts", () => {
      expect(given("place[x]=1&place[sure]=True&place[name]=5")).to.deep.equal({
        count: 1,
        place: { x: 1, sure: true, name: "5" },
      });
      for (const query of ["days[]=1&days[]=2", "days[0]=1&days[1]=2", "days=1&days[]=2"])
        expect(given(query), query).to.deep.equal({ count: 1, days: [1, 2] });
      const many = Array.from({ length: 900 }, (_, at) => at);
      expect(given(many.map((at) => `days[${at}]=${at}`).join("&"))).to.deep.equal({ count: 1, days: many });
      expect(given("places[0][x]=1&places[1][x]=2")).to.deep.equal({ count: 1, places: [{ x: 1 }, { x: 2 }] });
      expect(given("grid[0][]=1&grid[0][]=2&grid[1][]=3")).to.deep.equal({ count: 1, grid: [[1, 2], [3]] });
      expect(given("place[x]=one")).to.deep.equal(["query.place.x: int_parsing"]);
      expect(given("place[x]=1&place[x][y]=2")).to.deep.equal(["query.place.x: int_type"]);
      for (const query of ['place={"name":"a"}&place[x]=1', "place[][x]=1&place[x]=2"])
        expect(given(query), query).to.deep.equal(["query.place: model_attributes_type"]);
      expect(given("count[]=1&count[]=2")).to.deep.equal(["query.count: int_type"]);
    });

    it("are a list by its numbers, in whatever order they are sent", () => {
      const sorted = Array.from({ length: 12 }, (_, at) => `days[${at}]=${at}`).sort();
      expect(given(sorted.join("&"))).to.deep.include({ days: Array.from({ length: 12 }, (_, at) => at) });
      expect(given("places[1][x]=2&places[0][x]=1")).to.deep.include({ places: [{ x: 1 }, { x: 2 }] });
    });

    it("are a mapping with numbers for its keys where no list is wanted", () => {
      expect(given("rates[2024]=5&rates[1]=6&days[1]=2&days[0]=1")).to.deep.equal({
        count: 1,
        rates: { 2024: 5, 1: 6 },
        days: [1, 2],
      });
      expect(given("rates[1]=5")).to.deep.equal({ count: 1, rates: { 1: 5 } });
      const both = { rates: { 1: 5 }, meta: { 2: "x" } };
      for (const query of ["rates[1]=5&meta[2]=x", 'rates={"1":5}&meta={"2":"x"}', 'rates[1]=5&meta={"2":"x"}'])
        expect(given(query), query).to.deep.equal({ count: 1, ...both });
      expect(given("rates[1]=five&days[0]=1")).to.deep.equal(["query.rates.1: float_parsing"]);
    });

    it("stay texts where a text is wanted, and unknown names are ignored", () => {
      expect(given('note={"x":1}&other[x]=1&__proto__[x]=1&constructor[x]=1&[x]=1')).to.deep.equal({
        count: 1,
        note: '{"x":1}',
      });
      const spelled = compile(object({ "filter[x]": { type: "string" }, filter: { type: "string" } }));
      const texts = { "filter[x]": "a", filter: "b" };
      expect(spelled.coerce(texts), "a field's own name").to.deep.equal(texts);
    });
  });
});
