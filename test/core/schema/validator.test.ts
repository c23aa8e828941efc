import { expect } from "chai";
import fc from "fast-check";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { OWN_SCHEMAS } from "../../support/own-schemas.ts";

const text = { type: "string" };
const Leaf = { type: "object", properties: { name: text, note: text }, required: ["name"] };
const Tree = {
  type: "object",
  properties: { value: { type: "integer", default: 0 }, children: { type: "array", items: { $ref: "Tree.json" } } },
};
const compile = createCompiler(new Map<string, object>([...OWN_SCHEMAS, ["Leaf", Leaf], ["Tree", Tree]]));
const object = (properties: object, more: object = {}): object => ({ type: "object", properties, ...more });

/** The checked value of an input without faults. */
function checked(schema: string | object, value: unknown): unknown {
  const { value: result, issues } = compile(schema).check(value, "body");
  expect(issues).to.deep.equal([]);
  return result;
}

describe("a schema", () => {
  it("fills defaults in, at every depth, and leaves the given value alone", () => {
    const given = { low: 1, high: 6 };
    expect(checked("RollRequest", given)).to.deep.equal({ low: 1, high: 6, count: 1 });
    expect(given).to.deep.equal({ low: 1, high: 6 });
    expect(checked("Tree", { children: [{}, { value: 2, children: [{}] }] })).to.deep.equal({
      value: 0,
      children: [{ value: 0 }, { value: 2, children: [{ value: 0 }] }],
    });
  });

  it("fills defaults in beside null, and in no branch that may not apply", () => {
    const withDefault = object({ a: { type: "integer", default: 1 } });
    const schema = object({
      x: { anyOf: [{ $ref: "Tree.json" }, { type: "null" }] },
      y: { oneOf: [{ type: "null" }, withDefault], default: null },
      z: { anyOf: [withDefault, object({ b: text }, { required: ["b"] })] },
    });
    expect(checked(schema, { x: {}, z: { b: "" } })).to.deep.equal({ x: { value: 0 }, y: null, z: { b: "" } });
    expect(checked(schema, { x: null, y: { a: null } })).to.deep.equal({ x: null, y: { a: 1 } });
  });

  it("gives each call its own copy of a default", () => {
    const fields = { list: { type: "array", items: text, default: [] }, free: { type: "object", default: { on: [] } } };
    const schema = compile(object(fields));
    for (const use of ["input", "output"] as const) {
      const first = schema.check({}, "body", use).value as { list: string[]; free: { on: string[] } };
      first.list.push("mine");
      first.free.on.push("mine");
      expect(schema.check({}, "body", use).value, use).to.deep.equal({ list: [], free: { on: [] } });
    }
  });

  it("takes null in an optional field as absent, and fills the default in", () => {
    expect(checked("RollRequest", { low: 1, high: 6, count: null })).to.deep.equal({ low: 1, high: 6, count: 1 });
    expect(checked(object({ leaf: { $ref: "Leaf.json" } }), { leaf: { name: "a", note: null } })).to.deep.equal({
      leaf: { name: "a" },
    });
    expect(
      checked(object({ leaves: { type: "array", items: Leaf } }), { leaves: [{ name: "a", note: null }] }),
    ).to.deep.equal({ leaves: [{ name: "a" }] });
  });

  it("keeps a null that it allows, and refuses null in a required field", () => {
    const given = { low: 1, high: 6, label: null };
    expect(checked("RollRequest", given)).to.deep.equal({ ...given, count: 1 });
    expect(checked(object({ a: { type: ["string", "null"], default: "x" } }), { a: null })).to.deep.equal({ a: null });
    const branch = {
      anyOf: [object({ kind: { const: 1 }, a: { type: ["string", "null"] } }, { required: ["a"] }), text],
    };
    expect(checked(object({ b: branch }), { b: { kind: 1, a: null } })).to.deep.equal({ b: { kind: 1, a: null } });
    expect(compile("RollRequest").check({ low: null, high: 6 }, "body").issues).to.have.length(1);
    expect(compile("Leaf").check({ name: null }, "body").issues[0]).to.deep.include({
      type: "string_type",
      input: null,
    });
  });

  it("counts a null that it allows as a field where one is needed, in what is passed on and in answers", () => {
    const change = object({ title: text, milestone: { type: ["integer", "null"] } }, { minProperties: 1 });
    for (const use of ["passed", "output"] as const) {
      const { value, issues } = compile(change).check({ milestone: null }, "body", use);
      expect([value, issues], use).to.deep.equal([{ milestone: null }, []]);
      expect(compile(change).check({ title: null }, "body", use).issues[0]?.msg, use).to.match(/at least 1 item/);
    }
  });

  it("takes null as absent where fields exclude each other", () => {
    const either = { oneOf: [{ required: ["a"] }, { required: ["b"] }] };
    const schema = object({ a: { type: ["string", "null"] }, b: {} }, either);
    expect(checked(schema, { a: null, b: 1 })).to.deep.equal({ a: null, b: 1 });
  });

  it("drops fields that it does not name", () => {
    expect(checked("RollRequest", { low: 1, high: 6, high_: 7 })).to.deep.equal({ low: 1, high: 6, count: 1 });
    expect(checked(object({ a: text }, { additionalProperties: false }), { a: "1", b: 2 })).to.deep.equal({ a: "1" });
    expect(checked(object({}, { additionalProperties: false }), { b: 2 })).to.deep.equal({});
    expect(checked(object({ leaf: { $ref: "Leaf.json" } }), { leaf: { name: "a", age: 3 } })).to.deep.equal({
      leaf: { name: "a" },
    });
  });

  it("keeps every value in a field of free JSON", () => {
    const data = JSON.parse('{"a":[null,{"__proto__":{"x":1},"constructor":null}],"":0.1,"é":"\\ud800"}');
    const { value } = compile("AnchorRequest").check({ data, more: 1 }, "body");
    expect(value).to.deep.equal({ data });
    expect(JSON.stringify(value)).to.equal(JSON.stringify({ data }));
    const open = object({ a: { type: "object" }, b: object({ c: text }, { additionalProperties: true }) });
    const free = { a: { x: { y: null } }, b: { c: "1", d: { e: null } } };
    expect(checked(open, free)).to.deep.equal(free);
  });

  it("keeps generated JSON there unchanged", () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: "binary" }), (data) => {
        expect(JSON.stringify(checked("AnchorRequest", { data }))).to.equal(JSON.stringify({ data }));
      }),
    );
  });

  it("keeps fields that any of its branches names", () => {
    const cat = object({ kind: { const: "cat" }, lives: { type: "integer" } }, { required: ["lives"] });
    const dog = { allOf: [object({ kind: { const: "dog" } }), object({ tricks: { type: "array" } })] };
    const schema = object({ pet: { oneOf: [cat, dog, { type: "null" }] } });
    expect(checked(schema, { pet: { kind: "cat", lives: 9, age: 1 } })).to.deep.equal({
      pet: { kind: "cat", lives: 9 },
    });
    expect(checked(schema, { pet: { kind: "dog", tricks: [1], lives: null } })).to.deep.equal({
      pet: { kind: "dog", tricks: [1] },
    });
  });

  it("applies a pattern to the fields that it names, too", () => {
    const part = { maker: object({ name: text }), made: { type: ["string", "null"] } };
    const patternProperties = { "^made$": text, "^mak": object({ url: text }, { required: ["url"] }) };
    const schema = object(part, { patternProperties });
    expect(checked(schema, { maker: { name: "n", url: "u" } })).to.deep.equal({ maker: { name: "n", url: "u" } });
    expect(checked(schema, { made: null })).to.deep.equal({}); // The pattern allows no null: it means absent.
  });

  it("keeps every field where one of its branches takes any", () => {
    const [named, any] = [object({ a: text }, { required: ["a"] }), { type: "object", description: "Anything." }];
    const listOf = (items: object): object => ({ type: "array", items });
    const kinds: readonly (readonly [branches: readonly object[], value: unknown])[] = [
      [[named, any], { b: 1 }],
      [[object({ d: named }), object({ d: any })], { d: { b: 1 } }],
      [[listOf(named), listOf({})], [{ b: 1 }]],
      [[listOf(listOf(named)), listOf({ type: "array" })], [[{ b: 1 }]]],
      [[listOf(named), { type: "array", minItems: 1 }], [{ b: 1 }]],
    ];
    for (const [anyOf, x] of kinds) expect(checked(object({ x: { anyOf } }), { x })).to.deep.equal({ x });
    expect(checked(object({ x: { allOf: [named, any] } }), { x: { a: "", b: 1 } })).to.deep.equal({ x: { a: "" } });
  });

  it("copies the value, so that later changes to the original have no effect", () => {
    const given = { data: { list: [1] } };
    const value = checked("AnchorRequest", given);
    given.data.list.push(2);
    expect(value).to.deep.equal({ data: { list: [1] } });
  });

  it("reports values that are not JSON, with their place", () => {
    const issuesOf = (data: unknown) =>
      compile("AnchorRequest")
        .check({ data }, "body")
        .issues.map(({ type, loc }) => [type, ...loc]);
    expect(issuesOf([1n])).to.deep.equal([["value_error", "body", "data", 0]]);
    expect(issuesOf({ at: new Date() })).to.deep.equal([["value_error", "body", "data", "at"]]);
    expect(issuesOf([undefined, Number.NaN])).to.deep.equal([
      ["value_error", "body", "data", 0],
      ["finite_number", "body", "data", 1],
    ]);
    expect(issuesOf({ gone: undefined })).to.deep.equal([]);
  });

  it("can name fields that every object inherits", () => {
    const schema = object({ constructor: text, toString: text }, { required: ["constructor"] });
    expect(
      compile(schema)
        .check({}, "body")
        .issues.map(({ loc }) => loc),
    ).to.deep.equal([["body", "constructor"]]);
    expect(checked(schema, { constructor: "a" })).to.deep.equal({ constructor: "a" });
  });

  it("refers to other files and to its own parts", () => {
    const $defs = { "a/b": { type: "object", properties: { leaf: { $ref: "Leaf.json" } } } };
    const schema = object({ x: { $ref: "#/$defs/a~1b" }, y: { $ref: "Leaf.json#/properties/name" } }, { $defs });
    expect(checked(schema, { x: { leaf: { name: "a", note: null, z: 1 } }, y: "b" })).to.deep.equal({
      x: { leaf: { name: "a" } },
      y: "b",
    });
    expect(
      compile(schema)
        .check({ x: { leaf: {} }, y: 1 }, "body")
        .issues.map(({ loc }) => loc),
    ).to.deep.equal([
      ["body", "x", "leaf", "name"],
      ["body", "y"],
    ]);
  });

  it("may be one of hundreds that refer to each other, each of which is checked and must be sound", () => {
    const last = 400;
    const toNext = (at: number): object => object({ next: { $ref: `S${(at + 1) % last}.json` }, name: text });
    const many = new Map(Array.from({ length: last }, (_, at) => [`S${at}`, toNext(at)]));
    const check = createCompiler(many)("S0");
    const toNested = (name: unknown): unknown =>
      Array.from({ length: 30 }).reduce<unknown>((next) => ({ next }), { name });
    expect(check.check(toNested("a"), "body").issues).to.deep.equal([]);
    expect(check.check(toNested(1), "body").issues.map(({ loc }) => loc.length)).to.deep.equal([32]);
    many.set("S9", { type: "object", propertys: {} });
    const unsound = createCompiler(many);
    for (const name of ["S0", "S5", "S0"]) expect(() => unsound(name)).to.throw(`${name}.json is no usable schema`);
  });

  it("knows the fields that schemas name which are compiled after it", () => {
    const parts = { allOf: [{ $ref: "Node.json" }], unevaluatedProperties: false, type: "object" };
    const named = new Map<string, object>([
      ["Whole", parts],
      ["Node", object({ name: text, inner: { $ref: "Whole.json" } })],
    ]);
    const { issues } = createCompiler(named)("Whole").check({ name: "a", inner: { name: "b" } }, "body");
    expect(issues).to.deep.equal([]);
  });

  it("that is unknown or invalid is refused by name when it is compiled", () => {
    expect(() => compile("RollRequst")).to.throw('there is no schema "RollRequst"');
    const broken = createCompiler(new Map([["Broken", { type: "object", propertys: {} }]]));
    expect(() => broken("Broken")).to.throw("schemas/Broken.json is no usable schema");
    expect(() => broken({ $ref: "Nothing.json" })).to.throw("an inline schema is no usable schema");
  });
});
