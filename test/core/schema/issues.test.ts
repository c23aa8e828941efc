import { expect } from "chai";
import type { ValidationIssue } from "../../../runtime/api/problem.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";

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
/** Made with pydantic 2.13: a schema, a value, and the type, message and context of the issue. */
const WORDS: readonly [schema: object, value: unknown, type: string, msg: string, ctx?: object][] = [
  [text, 5, "string_type", "Input should be a valid string"],
  [text, null, "string_type", "Input should be a valid string"],
  [{ type: "integer" }, [], "int_type", "Input should be a valid integer"],
  [{ type: "integer" }, 1.5, "int_from_float", "Input should be a valid integer, got a number with a fractional part"],
  [{ type: "number" }, [], "float_type", "Input should be a valid number"],
  [{ type: "boolean" }, [], "bool_type", "Input should be a valid boolean"],
  [{ type: "array", items: text }, {}, "list_type", "Input should be a valid list"],
  [{ type: "object" }, [], "dict_type", "Input should be a valid dictionary"],
  [
    { $ref: "Anchor.json" },
    "a",
    "model_attributes_type",
    "Input should be a valid dictionary or object to extract fields from",
  ],
  [{ type: "null" }, 3, "none_required", "Input should be None"],
  [{ ...text, minLength: 2 }, "a", "string_too_short", "String should have at least 2 characters", { min_length: 2 }],
  [{ ...text, minLength: 1 }, "", "string_too_short", "String should have at least 1 character", { min_length: 1 }],
  [{ ...text, maxLength: 1 }, "ab", "string_too_long", "String should have at most 1 character", { max_length: 1 }],
  [
    { ...text, maxLength: 200 },
    "a".repeat(201),
    "string_too_long",
    "String should have at most 200 characters",
    { max_length: 200 },
  ],
  [
    { ...text, pattern: "^a$" },
    "b",
    "string_pattern_mismatch",
    "String should match pattern '^a$'",
    { pattern: "^a$" },
  ],
  [{ type: "integer", minimum: 1 }, 0, "greater_than_equal", "Input should be greater than or equal to 1", { ge: 1 }],
  [{ type: "number", maximum: 1.5 }, 2, "less_than_equal", "Input should be less than or equal to 1.5", { le: 1.5 }],
  [{ type: "integer", exclusiveMinimum: 0 }, 0, "greater_than", "Input should be greater than 0", { gt: 0 }],
  [{ type: "integer", exclusiveMaximum: 10 }, 10, "less_than", "Input should be less than 10", { lt: 10 }],
  [{ type: "integer", multipleOf: 5 }, 7, "multiple_of", "Input should be a multiple of 5", { multiple_of: 5 }],
  [
    { ...text, enum: ["a", "b", "c"] },
    "z",
    "literal_error",
    "Input should be 'a', 'b' or 'c'",
    { expected: "'a', 'b' or 'c'" },
  ],
  [{ ...text, enum: ["a", "b"] }, 5, "literal_error", "Input should be 'a' or 'b'", { expected: "'a' or 'b'" }],
  [{ ...text, const: "eip191" }, "z", "literal_error", "Input should be 'eip191'", { expected: "'eip191'" }],
  [{ enum: [1, 2] }, 3, "literal_error", "Input should be 1 or 2", { expected: "1 or 2" }],
  [{ enum: ["it's", true] }, "x", "literal_error", 'Input should be "it\'s" or True', { expected: '"it\'s" or True' }],
  [
    { type: ["string", "null"], enum: ["a", "b", null] },
    "q",
    "literal_error",
    "Input should be 'a' or 'b'",
    { expected: "'a' or 'b'" },
  ],
  [
    { type: "array", minItems: 2 },
    [1],
    "too_short",
    "List should have at least 2 items after validation, not 1",
    { field_type: "List", min_length: 2, actual_length: 1 },
  ],
  [
    { type: "array", maxItems: 1 },
    [1, 2],
    "too_long",
    "List should have at most 1 item after validation, not 2",
    { field_type: "List", max_length: 1, actual_length: 2 },
  ],
  [
    { type: "object", minProperties: 1 },
    {},
    "too_short",
    "Dictionary should have at least 1 item after validation, not 0",
    { field_type: "Dictionary", min_length: 1, actual_length: 0 },
  ],
];

/** Rules for which pydantic has no type, or a message from its parser. */
const OWN_WORDS: readonly [schema: object, value: unknown, type: string, error: string][] = [
  [{ ...text, format: "date-time" }, "soon", "datetime_parsing", "write it as in 2027-01-31T12:00:00Z"],
  [{ ...text, format: "date" }, "soon", "date_parsing", "write it as in 2027-01-31"],
  [{ ...text, format: "time" }, "soon", "time_parsing", "write it as in 12:00:00Z"],
  [{ ...text, format: "uuid" }, "1", "uuid_parsing", "write it as in 123e4567-e89b-42d3-a456-426614174000"],
  [{ ...text, format: "uri" }, "a b", "url_parsing", "write it as in https://example.com/path"],
  [{ ...text, format: "email" }, "a", "value_error", "must be a valid email"],
  [
    { type: "array", uniqueItems: true },
    [
      { a: 1, b: 2 },
      { b: 2, a: 1 },
    ],
    "value_error",
    "no two items may be equal",
  ],
  [{ type: "array", contains: text }, [1], "value_error", "an item is missing that must be there"],
  [{ not: { type: "string" } }, "a", "value_error", "this form is not allowed"],
  [{ not: text, "x-message": "no text, please" }, "a", "value_error", "no text, please"],
];

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
    expect(issuesOf({ type: "array", items: text }, Array(5000).fill(1))).to.have.length(100);
  });
});
