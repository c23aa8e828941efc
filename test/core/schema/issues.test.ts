import { expect } from "chai";
import type { ValidationIssue } from "../../../runtime/api/problem.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { OWN_WORDS, WORDS } from "./issue-words.ts";

const Anchor = { type: "object", properties: { tx: { type: "string" } }, required: ["tx"] };
const compile = createCompiler(new Map([["Anchor", Anchor]]));

/** The issues of a body with one field of this schema. */
function issuesOf(
  schema: object | boolean,
  value: unknown,
  from: "body" | "query" = "body",
): readonly ValidationIssue[] {
  return compile({ type: "object", properties: { x: schema }, required: ["x"] }).check({ x: value }, from).issues;
}
const issuesOfBody = (schema: object, value: unknown): readonly ValidationIssue[] =>
  compile({ type: "object", ...schema }).check(value, "body").issues;

const text = { type: "string" };
/** Parsed from text: the linter takes a literal with `then` for a promise. */
const B_WITH_A = JSON.parse('{ "if": { "required": ["a"] }, "then": { "required": ["b"] } }') as object;

describe("an issue", () => {
  for (const [schema, value, type, msg, ctx] of WORDS) {
    it(`of ${JSON.stringify(schema)} says ${type} as pydantic does`, () => {
      const said = { type, loc: ["body", "x"], msg, input: value, ...(ctx && { ctx }) };
      expect(issuesOf(schema, value)).to.deep.equal([said]);
    });
  }

  for (const [schema, value, type, error] of OWN_WORDS) {
    it(`of ${JSON.stringify(schema)} says what would be right`, () => {
      const [issue, ...others] = issuesOf(schema, value);
      expect(others).to.deep.equal([]);
      expect(issue).to.deep.include({ type, loc: ["body", "x"], input: value, ctx: { error } });
      expect(issue?.msg).to.match(new RegExp(`, ${error.replaceAll("/", "\\/")}$`));
    });
  }

  it("is the first one alone where the value has more than 256 parts, except in what the operator wrote", () => {
    const schema = compile({ type: "object", properties: { x: { type: "array", items: text } } });
    const count = (length: number, use?: "own"): number =>
      schema.check({ x: Array(length).fill(1) }, "body", use).issues.length;
    expect([count(20), count(254)]).to.deep.equal([20, 100]);
    expect([count(255), count(1000), count(1000, "own")]).to.deep.equal([1, 1, 100]);
  });

  it("of a text in a query says that the text cannot be parsed", () => {
    const typesOf = (type: string): string[] => issuesOf({ type }, "many", "query").map((issue) => issue.type);
    expect(typesOf("integer")).to.deep.equal(["int_parsing"]);
    expect(typesOf("number")).to.deep.equal(["float_parsing"]);
    expect(typesOf("boolean")).to.deep.equal(["bool_parsing"]);
    expect(issuesOf({ type: "integer" }, "1.5", "query")).to.deep.equal([
      {
        type: "int_parsing",
        loc: ["query", "x"],
        msg: "Input should be a valid integer, unable to parse string as an integer",
        input: "1.5",
      },
    ]);
  });

  it("of a missing field shows the object that it is missing from", () => {
    const schema = { properties: { a: { type: "array", items: { $ref: "Anchor.json" } } } };
    expect(issuesOfBody(schema, { a: [{ tx: "1" }, { tax: "2" }] })).to.deep.equal([
      { type: "missing", loc: ["body", "a", 1, "tx"], msg: "Field required", input: { tax: "2" } },
    ]);
  });

  it("of a body that is missing or no object is the one of FastAPI", () => {
    const schema = { properties: { a: text }, required: ["a"], oneOf: [{ required: ["a"] }, { required: ["b"] }] };
    for (const input of [[], "a", 5]) {
      const msg = "Input should be a valid dictionary or object to extract fields from";
      expect(issuesOfBody(schema, input)).to.deep.equal([{ type: "model_attributes_type", loc: ["body"], msg, input }]);
    }
    for (const nothing of [undefined, null]) {
      const missing = { type: "missing", loc: ["body"], msg: "Field required", input: null };
      expect(issuesOfBody(schema, nothing)).to.deep.equal([missing]);
    }
  });

  it("names a field that a nested object must not have, and its value", () => {
    const strict = { type: "object", properties: { a: text }, additionalProperties: false };
    expect(issuesOf(strict, { a: "1", b: 2 })).to.deep.equal([
      { type: "extra_forbidden", loc: ["body", "x", "b"], msg: "Extra inputs are not permitted", input: 2 },
    ]);
  });

  it("names a key that breaks propertyNames", () => {
    const schema = { type: "object", propertyNames: { maxLength: 2 }, additionalProperties: text };
    const [issue] = issuesOf(schema, { abc: "1" });
    expect(issue).to.deep.include({ type: "string_too_long", loc: ["body", "x", "abc", "[key]"], input: "abc" });
  });

  it("explains rules about fields that are given together", () => {
    const names = { a: text, b: text, c: text };
    const rules: [rule: object, value: object, sentence: string][] = [
      [{ oneOf: [{ required: ["a"] }, { required: ["b"] }] }, {}, "exactly one of a, b must be given"],
      [{ oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: "", b: "" }, "exactly one of a, b must be given"],
      [{ oneOf: [{ required: ["a"] }, { required: ["b"] }] }, { a: null }, "exactly one of a, b must be given"],
      [{ anyOf: [{ required: ["a"] }, { required: ["b", "c"] }] }, {}, "at least one of a, b and c must be given"],
      [{ not: { required: ["a", "b"] } }, { a: "", b: "" }, "a and b cannot be given together"],
      [{ dependentRequired: { a: ["b"] } }, { a: "" }, "b must be given with a"],
      [{ dependentRequired: { a: ["b"] }, "x-message": "a needs b" }, { a: "" }, "a needs b"],
      [{ ...B_WITH_A, "x-message": "a needs b" }, { a: "" }, "a needs b"],
    ];
    for (const [rule, input, sentence] of rules) {
      const said = { type: "value_error", loc: ["body"], msg: `Value error, ${sentence}`, input };
      const found = issuesOfBody({ properties: names, ...rule }, input);
      expect(found).to.deep.equal([{ ...said, ctx: { error: sentence } }]);
    }
  });

  it("of a condition is the issue of its then or else", () => {
    const issues = issuesOfBody({ properties: { a: text, b: text }, ...B_WITH_A }, { a: "" });
    expect(issues.map(({ type, loc }) => [type, ...loc])).to.deep.equal([["missing", "body", "b"]]);
  });

  it("leaves a long input out", () => {
    expect(issuesOf({ type: "integer" }, "a".repeat(5000))[0]).not.to.have.property("input");
    expect(issuesOf({ type: "integer" }, Array(5000).fill(1))[0]).not.to.have.property("input");
    expect(issuesOf({ type: "integer" }, "a".repeat(1000))[0]).to.have.property("input");
  });
});

describe("several issues", () => {
  it("come all at once, in the order of the schema's fields", () => {
    const properties = { b: text, a: { type: "integer" }, c: { type: "array", items: text }, d: text };
    const rule = { oneOf: [{ required: ["e"] }, { required: ["f"] }] };
    const schema = { properties: { ...properties, e: text, f: text }, required: ["a", "d"], allOf: [rule] };
    const places = issuesOfBody(schema, { c: ["x", 1, 2], b: 1 }).map(({ loc }) => loc.slice(1).join("."));
    expect(places).to.deep.equal(["b", "a", "c.1", "c.2", "d", ""]);
  });

  it("are one per value: length before pattern, enum before type", () => {
    expect(issuesOf({ ...text, minLength: 2, pattern: "^[0-9]+$" }, "a").map(({ type }) => type)).to.deep.equal([
      "string_too_short",
    ]);
    expect(issuesOf({ ...text, maxLength: 3, pattern: "^[0-9]+$" }, "abcd").map(({ type }) => type)).to.deep.equal([
      "string_too_long",
    ]);
  });

  it("do not mention null as an alternative", () => {
    for (const schema of [
      { anyOf: [{ $ref: "Anchor.json" }, { type: "null" }] },
      { oneOf: [{ type: "null" }, Anchor] },
    ]) {
      expect(issuesOf(schema, 5).map(({ type }) => type)).to.deep.equal(["model_attributes_type"]);
      expect(issuesOf(schema, {}).map(({ type, loc }) => [type, ...loc])).to.deep.equal([
        ["missing", "body", "x", "tx"],
      ]);
    }
  });

  it("name each type that the value could have", () => {
    for (const schema of [{ type: ["string", "number", "null"] }, { anyOf: [text, { type: "number" }] }]) {
      expect(issuesOf(schema, []).map(({ type }) => type)).to.deep.equal(["string_type", "float_type"]);
    }
  });

  it("are those of the branch whose type the value has", () => {
    const schema = { anyOf: [{ ...text, maxLength: 2 }, { type: "integer", minimum: 5 }, { type: "null" }] };
    expect(issuesOf(schema, "abc").map(({ type }) => type)).to.deep.equal(["string_too_long"]);
    expect(issuesOf(schema, 2).map(({ type }) => type)).to.deep.equal(["greater_than_equal"]);
  });

  it("are one sentence where the schema's author wrote one", () => {
    const evm = { ...text, pattern: "^0x[0-9a-f]{40}$" };
    const schema = { anyOf: [evm, { ...text, pattern: "^[1-9A-Za-z]{32,44}$" }], "x-message": "no wallet's address" };
    expect(issuesOf(schema, "?").map(({ msg }) => msg)).to.deep.equal(["Value error, no wallet's address"]);
  });

  it("are at most a hundred", () => {
    expect(issuesOf({ type: "array", items: text }, Array(200).fill(1))).to.have.length(100);
  });
});
