import { Ajv2020 } from "ajv/dist/2020.js";
import { expect } from "chai";
import { createSchemaNodes } from "../../../runtime/core/schema/nodes.ts";
import { toSelfContained } from "../../../runtime/surfaces/schema/self-contained.ts";

/** The named schema, made self-contained. */
function contain(schemas: Record<string, object>, name: string): object {
  const documents = new Map(Object.entries(schemas));
  return toSelfContained(documents.get(name) as object, createSchemaNodes(documents).resolve);
}

describe("a self-contained schema", () => {
  it("has what it referred to where it referred to it, through several documents", () => {
    const schemas = {
      A: { type: "object", properties: { b: { $ref: "B.json" }, list: { type: "array", items: { $ref: "B.json" } } } },
      B: { $schema: "x", type: "object", properties: { c: { $ref: "C.json#/$defs/short" } } },
      C: { $defs: { short: { $ref: "#/$defs/text", maxLength: 5 }, text: { type: "string" } } },
    };
    const b = { type: "object", properties: { c: { maxLength: 5, allOf: [{ type: "string" }] } } };
    expect(contain(schemas, "A")).to.deep.equal({
      type: "object",
      properties: { b, list: { type: "array", items: b } },
    });
  });

  it("lets a reference's own description win, and its other keywords narrow", () => {
    const schemas = {
      A: {
        properties: {
          named: { $ref: "B.json", description: "mine" },
          narrowed: { $ref: "B.json", minimum: 1, allOf: [{ maximum: 9 }] },
          forbidden: { $ref: "B.json#/$defs/never", description: "mine" },
        },
      },
      B: { type: "integer", description: "theirs", $defs: { never: false } },
    };
    expect(contain(schemas, "A")).to.deep.equal({
      properties: {
        named: { type: "integer", description: "mine" },
        narrowed: { minimum: 1, allOf: [{ maximum: 9 }, { type: "integer", description: "theirs" }] },
        forbidden: { description: "mine", allOf: [false] },
      },
    });
  });

  it("keeps data and fields that only look like keywords", () => {
    const schemas = {
      A: {
        type: "object",
        properties: { $ref: { type: "string" }, $schema: { type: "string" }, default: { const: { $ref: "B.json" } } },
        default: { $ref: "B.json", $schema: "x" },
        examples: [{ $defs: {} }],
        enum: [{ $id: "x" }],
      },
    };
    expect(contain(schemas, "A")).to.deep.equal(schemas.A);
  });

  it("holds what contains itself once, under $defs", () => {
    const schemas = {
      Page: { type: "object", properties: { tree: { $ref: "Tree.json" } } },
      Tree: { type: "object", properties: { kids: { type: "array", items: { $ref: "#" } } } },
    };
    const tree = { type: "object", properties: { kids: { type: "array", items: { $ref: "#/$defs/Recursive1" } } } };
    expect(contain(schemas, "Page")).to.deep.equal({
      type: "object",
      properties: { tree },
      $defs: { Recursive1: tree },
    });
  });

  it("ends for schemas that contain each other", () => {
    const schemas = {
      A: { properties: { b: { $ref: "B.json" } } },
      B: { properties: { a: { $ref: "A.json" }, c: { $ref: "C.json" } } },
      C: { properties: { b: { $ref: "B.json" } } },
    };
    const text = JSON.stringify(contain(schemas, "A"));
    const defined = [...text.matchAll(/"#\/\$defs\/(\w+)"/g)].map(([, name]) => name as string);
    const whole = JSON.parse(text) as { $defs: object };
    expect(defined).not.to.have.length(0);
    for (const name of defined) expect(whole.$defs).to.have.property(name);
    expect(text).not.to.include(".json");
  });

  it("stays small where schemas share parts at many levels, and accepts the same values", () => {
    const level = (at: number): [string, object] => {
      const next = at === 0 ? { type: "integer" } : { $ref: `L${at - 1}.json` };
      return [`L${at}`, { type: "object", properties: { a: next, b: next }, required: ["a"] }];
    };
    const whole = contain(Object.fromEntries(Array.from({ length: 17 }, (_, at) => level(at))), "L16");
    expect(JSON.stringify(whole)).to.have.length.below(100_000);
    const check = new Ajv2020().compile(whole);
    const deep = (leaf: unknown): unknown => Array.from({ length: 17 }).reduce((a) => ({ a }), leaf);
    expect([check(deep(1)), check(deep("1"))]).to.deep.equal([true, false]);
  });
});
