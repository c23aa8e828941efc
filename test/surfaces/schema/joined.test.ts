import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { toFields } from "../../../runtime/surfaces/schema/fields.ts";
import { toShown, withAllFields } from "../../../runtime/surfaces/schema/joined.ts";

const text = { type: "string" };
const BASE = { type: "object", properties: { id: text, note: text }, required: ["id"] };

describe("a schema in parts", () => {
  it("has the fields of all of them at its root, and no part", () => {
    const more = { properties: { note: { maxLength: 5 }, zip: text }, required: ["zip"] };
    const schema = { type: "object", properties: { own: text }, allOf: [BASE, { allOf: [more] }, true] };
    expect(withAllFields(schema)).to.deep.equal({
      type: "object",
      properties: { own: text, id: text, note: { allOf: [text, { maxLength: 5 }] }, zip: text },
      required: ["id", "zip"],
    });
  });

  it("has the fields of all alternatives, and requires what each of them does", () => {
    const card = { properties: { kind: { const: "card" }, number: text }, required: ["kind", "number"] };
    const bank = { properties: { kind: { const: "bank" }, iban: text }, required: ["kind", "iban"] };
    const schema = { type: "object", oneOf: [card, bank, { type: "null" }] };
    expect(withAllFields(schema)).to.deep.equal({
      type: "object",
      properties: { kind: { anyOf: [{ const: "card" }, { const: "bank" }] }, number: text, iban: text },
      required: ["kind"],
      description: "Needs number, or iban.",
    });
  });

  it("says what each alternative needs of its own, where all need something", () => {
    const needs = (...alternatives: readonly string[][]): unknown =>
      withAllFields({ description: "Pays", anyOf: alternatives.map((required) => ({ required })) }).description;
    expect(needs(["a", "b"], ["a", "c", "d"])).to.equal("Pays. Needs b, or c and d.");
    const said = withAllFields({ description: "支払います。", anyOf: [{ required: ["a"] }, { required: ["b"] }] });
    expect(said.description).to.equal("支払います。 Needs a, or b.");
    expect(needs(["a"], [])).to.equal("Pays");
    expect(needs(["a"], ["a"])).to.equal("Pays");
    const any = withAllFields({ description: "Pays", anyOf: [true, { required: ["a"] }] });
    expect(any, "one takes everything").to.deep.equal({ description: "Pays", properties: {} });
    expect(needs(["a"])).to.equal("Pays");
  });

  it("takes what it took, where parts stand in its definitions, which may contain themselves", () => {
    const tree = { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Tree" } } } };
    const ring = { allOf: [{ $ref: "#/$defs/Ring" }] };
    const schema = { type: "object", allOf: [{ $ref: "#/$defs/Tree" }, BASE], $defs: { Tree: tree } };
    const whole = withAllFields(schema);
    expect(whole.properties).to.have.all.keys("kids", "id", "note");
    expect(new Ajv2020({ strict: false }).compile(whole)({ id: "1", kids: [{ kids: [] }] })).to.equal(true);
    expect(withAllFields({ ...ring, $defs: { Ring: ring } }).properties).to.deep.equal({});
    const escaped = { allOf: [{ $ref: "#/definitions/shop~1Base" }], definitions: { "shop/Base": BASE } };
    expect(withAllFields(escaped).properties).to.deep.equal(BASE.properties);
  });

  it("requires what a definition does to which each alternative refers", () => {
    const named = (name: string) => ({ allOf: [{ $ref: "#/$defs/Base" }, { required: [name] }] });
    const schema = { type: "object", oneOf: [named("zip"), named("town")], $defs: { Base: BASE } };
    const { required, description } = withAllFields(schema);
    expect([required, description]).to.deep.equal([["id"], "Needs zip, or town."]);
  });

  it("is the same where it has none at its root", () => {
    const schema = { type: "object", properties: { zip: { allOf: [text] } } };
    expect(withAllFields(schema)).to.equal(schema);
  });

  it("is shown with each field's type, rules and fields", () => {
    const level = { type: "string", enum: ["low", "high"], description: "How urgent." };
    const pet = { allOf: [BASE, { type: "object", properties: { legs: { type: "integer" } } }] };
    const order = { properties: { level: { description: "Usually low.", allOf: [level] }, pets: { items: pet } } };
    const fields = toFields(toShown({ type: "object", allOf: [BASE, order] }));
    expect(fields.map(({ name, type, isRequired }) => [name, type, isRequired])).to.deep.equal([
      ["id", "string", true],
      ["note", "string", false],
      ["level", "string", false],
      ["pets", "any JSON", false],
      ["pets[].id", "string", true],
      ["pets[].note", "string", false],
      ["pets[].legs", "integer", false],
    ]);
    expect(fields[2]).to.deep.include({ rules: ["one of low, high"], description: "Usually low." });
  });

  it("is shown with the values that a field may have, where each is an alternative", () => {
    const one = { type: "string", enum: ["a"], description: "mine" };
    const properties = {
      way: { oneOf: [{ const: "in", title: "In" }, { const: "out" }, { type: "null" }], default: "in" },
      size: { anyOf: [{ const: 1 }, { type: "integer", enum: [2, 3] }] },
      only: { anyOf: [one, { type: "null" }] },
      loose: { anyOf: [{ const: "any" }, { type: "integer" }] },
    };
    const [way, size, only, loose] = toFields(toShown({ type: "object", properties }));
    expect(way).to.deep.include({ type: "string or null", rules: ["one of in, out", 'default "in"'] });
    expect(size).to.deep.include({ type: "number", rules: ["one of 1, 2, 3"] });
    expect(only).to.deep.include({ type: "string or null", rules: ["one of a"], description: "mine" });
    expect(loose).to.deep.include({ type: "string or integer", rules: [] });
  });

  it("is shown with the fields of a field that is one of several objects, and of nothing else", () => {
    const cat = {
      type: "object",
      properties: { kind: { const: "cat" }, lives: { type: "integer" } },
      required: ["kind"],
    };
    const dog = { properties: { kind: { const: "dog" }, tricks: { type: "array" } }, required: ["kind", "tricks"] };
    const properties = {
      body: { anyOf: [cat, dog, { type: "null" }] },
      pets: { type: "array", items: { oneOf: [cat, dog] } },
      loose: { anyOf: [cat, dog, text] },
    };
    const fields = toFields(toShown({ type: "object", properties }));
    expect(fields.map(({ name, type, isRequired, rules }) => [name, type, isRequired, ...rules])).to.deep.equal([
      ["body", "object or null", false],
      ["body.kind", "string", true, "one of cat, dog"],
      ["body.lives", "integer", false],
      ["body.tricks", "list", false],
      ["pets", "list of object", false],
      ["pets[].kind", "string", true, "one of cat, dog"],
      ["pets[].lives", "integer", false],
      ["pets[].tricks", "list", false],
      ["loose", "object or any JSON or string", false],
    ]);
  });
});
