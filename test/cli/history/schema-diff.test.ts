import { expect } from "chai";
import { diffSchemas } from "../../../runtime/cli/history/schema-diff.ts";

const NONE: ReadonlyMap<string, object> = new Map();
const ways = (before: object, after: object): string[] =>
  diffSchemas({ schema: before, schemas: NONE }, { schema: after, schemas: NONE }).map(
    ({ way, text }) => `${way}: ${text}`,
  );
const object = (properties: object, rest: object = {}): object => ({ type: "object", properties, ...rest });

describe("the difference of two schemas", () => {
  it("says of each place whether less or more is allowed", () => {
    expect(ways({ minimum: 1 }, { minimum: 2 })).to.deep.equal(["narrower: minimum 1 → 2"]);
    expect(ways({ maximum: 1 }, { maximum: 2 })).to.deep.equal(["wider: maximum 1 → 2"]);
    expect(ways({}, { pattern: "^a" })).to.deep.equal(['narrower: pattern none → "^a"']);
    expect(ways({ enum: ["a", "b"] }, { enum: ["a"] })).to.deep.equal(['narrower: enum ["a","b"] → ["a"]']);
    expect(ways({ enum: ["a", "b"] }, { enum: ["a", "c"] })).to.deep.equal(['other: enum ["a","b"] → ["a","c"]']);
    expect(ways({ pattern: "^a" }, {})).to.deep.equal(['wider: pattern "^a" → none']);
    expect(ways({ type: "string" }, { type: ["string", "null"] })).to.deep.equal([
      'wider: type "string" → ["string","null"]',
    ]);
    expect(ways({ type: "integer" }, { type: "number" })).to.deep.equal(['wider: type "integer" → "number"']);
    for (const one of [{ enum: ["a", "b"] }, { type: ["string", "null"] }]) {
      const other = Object.fromEntries(Object.entries(one).map(([name, values]) => [name, values.toReversed()]));
      expect(ways(one, other), "another order allows the same").to.deep.equal([]);
    }
    expect(ways({ default: 1 }, { default: 2 })).to.deep.equal(["other: default 1 → 2"]);
    expect(ways({ type: "string" }, { type: "number" })).to.deep.equal(['other: type "string" → "number"']);
  });

  it("follows fields, lists and names of other schemas", () => {
    const before = new Map([["Side", { enum: ["heads", "tails"] }]]);
    const after = new Map([["Side", { enum: ["heads", "tails", "edge"] }]]);
    const schema = object({ sides: { type: "array", items: { $ref: "Side.json" } } });
    const [change] = diffSchemas({ schema, schemas: before }, { schema, schemas: after });
    expect(change).to.deep.equal({
      way: "wider",
      text: 'sides[]: enum ["heads","tails"] → ["heads","tails","edge"]',
    });
  });

  it("follows definitions, and the parts and alternatives that name other schemas", () => {
    const side = (most: number) => new Map([["Side", { $defs: { Text: { type: "string", maxLength: most } } }]]);
    const follow = (schema: object, other = schema): string[] => {
      const [before, after] = [side(9), side(5)].map((map) => map.set("Text", map.get("Side")?.$defs.Text as never));
      return diffSchemas({ schema, schemas: before ?? NONE }, { schema: other, schemas: after ?? NONE }).map(
        ({ way, text }) => `${way}: ${text}`,
      );
    };
    const told = ["narrower: a: maxLength 9 → 5"];
    expect(follow(object({ a: { $ref: "Side.json#/$defs/Text" } }))).to.deep.equal(told);
    expect(follow(object({ a: { allOf: [{ $ref: "Text.json" }], default: "x" } }))).to.deep.equal(told);
    expect(follow(object({ a: { anyOf: [{ $ref: "Text.json" }, { type: "null" }] } }))).to.deep.equal(told);
    expect(follow({ type: "object", oneOf: [object({ a: { $ref: "Text.json" } })] })).to.deep.equal(told);
    const own = (most: number) =>
      object({ a: { $ref: "#/$defs/A" } }, { $defs: { A: { $ref: "#/$defs/B" }, B: { maxLength: most } } });
    expect(ways(own(9), own(5))).to.deep.equal(told);
    const told2 = object({ a: { anyOf: [{ type: "string", description: "new" }] } });
    expect(ways(object({ a: { anyOf: [{ type: "string" }] } }), told2), "a text").to.deep.equal([]);
    expect(ways({ anyOf: [{ minimum: 1 }] }, { anyOf: [{ minimum: 1 }, {}] })).to.have.length(1);
    const either = (...anyOf: readonly unknown[]): object => object({ a: { anyOf } });
    const [text, none, name] = [{ type: "string" }, { type: "null" }, { $ref: "Text.json" }];
    expect(ways(either(text, none), either(none, text)), "another order allows the same").to.deep.equal([]);
    expect(follow(either(name, none), either(none, name))).to.deep.equal(told);
    expect(ways(either(text, none), either(none, { maximum: 5 }))).to.deep.equal(
      ways(object({ a: text }), object({ a: { maximum: 5 } })),
    );
  });

  it("takes a field whose schema is true or false, beside references too: a shop with one does not start otherwise", () => {
    const [any, none] = [object({ any: true, side: { $ref: "Side.json" } }), object({ any: false })];
    expect(ways(any, object({ any: true, side: { $ref: "Side.json" }, other: true }))).to.deep.equal([
      "wider: other is new",
    ]);
    expect(ways(any, object({ any: { type: "string" }, side: { $ref: "Side.json" } }))).to.deep.equal([
      'narrower: any: type none → "string"',
    ]);
    expect(ways(none, object({ any: true }))).to.deep.equal(["wider: any: not {} → none"]);
  });

  it("tells of fields that are new, gone, required, or not required any more", () => {
    const [a, b] = [{ type: "string" }, { type: "number" }];
    for (const name of ["b", "constructor"]) {
      expect(ways(object({ a }), object({ a, [name]: b }))).to.deep.equal([`wider: ${name} is new`]);
      expect(ways(object({ a, [name]: b }), object({ a }))).to.deep.equal([`other: ${name} is gone`]);
    }
    expect(ways(object({ a }), object({ a }, { required: ["a"] }))).to.deep.equal(["narrower: a is required"]);
    expect(ways(object({ a }, { required: ["a"] }), object({ a }))).to.deep.equal([
      "wider: a is not required any more",
    ]);
    const others = (one: unknown, two: unknown) => ways({ additionalProperties: one }, { additionalProperties: two });
    expect(others(undefined, false)).to.deep.equal(["narrower: no other fields are allowed"]);
    expect(others(false, a)).to.deep.equal(["wider: other fields are allowed"]);
    expect(others(a, b)).to.deep.equal(["other: other fields changed"]);
    expect(others(undefined, true)).to.deep.equal(["wider: other fields are kept"]);
    expect(others(true, undefined)).to.deep.equal(["narrower: other fields are left out"]);
  });

  it("ends on a schema that refers to itself", () => {
    const tree = object({ left: { $ref: "Tree.json" } });
    const side = { schema: "Tree", schemas: new Map([["Tree", tree]]) };
    expect(diffSchemas(side, side)).to.deep.equal([]);
  });

  it("ends soon, and tells what is new, where it does so in several fields: a shop that sells is asked for it", () => {
    const names = ["first", "second", "third"];
    const fields = Object.fromEntries(names.map((name) => [name, { $ref: "Tree.json" }]));
    const side = (more: object) => ({ schema: "Tree", schemas: new Map([["Tree", object({ ...more, ...fields })]]) });
    const changes = diffSchemas(side({}), side({ leaf: { type: "string" } }));
    expect(changes[0]).to.deep.equal({ way: "wider", text: "leaf is new" });
    expect(changes.length, "at so many places").to.be.below(50);
    expect(diffSchemas(side({}), side({}))).to.deep.equal([]);
  });

  it("leaves texts alone", () => {
    expect(ways({ title: "one", examples: [1] }, { title: "two", description: "more" })).to.deep.equal([]);
  });
});
