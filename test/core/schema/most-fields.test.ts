import { expect } from "chai";
import { mostFields } from "../../../runtime/core/schema/most-fields.ts";
import type { Resolve, SchemaNode } from "../../../runtime/core/schema/nodes.ts";
import type { Service } from "../../../runtime/core/service.ts";
import { jsonShapeOf } from "../../../runtime/server/request/json.ts";
import { openWholeShop, type WholeShop } from "../../attacks/support/whole-shop.ts";

type Node = Readonly<Record<string, unknown>>;

/** The value with the most fields that a schema takes, as far as it fits so many bytes. */
function largestOf(node: unknown, resolve: Resolve, bytes: number): unknown {
  if (typeof node !== "object" || node === null) return manyFields(bytes);
  const { $ref, properties, items, maxItems, type, enum: values, anyOf, oneOf } = node as Node;
  if ($ref !== undefined) return largestOf(resolve(node as SchemaNode), resolve, bytes);
  if (Array.isArray(values)) return values[0];
  const branches = (anyOf ?? oneOf) as Node[] | undefined;
  if (branches) return heaviest(branches.map((branch) => largestOf(branch, resolve, bytes)));
  const types = [type].flat();
  if (typeof properties === "object" && properties !== null) {
    const parts = Object.entries(properties);
    return Object.fromEntries(parts.map(([name, part]) => [name, largestOf(part, resolve, bytes / parts.length)]));
  }
  if (items !== undefined) {
    const one = largestOf(items, resolve, 1000);
    const fit = Math.floor(bytes / (JSON.stringify(one).length + 1));
    return Array(Math.min(fit, (maxItems as number | undefined) ?? fit)).fill(one);
  }
  if (type === undefined || types.includes("object") || types.includes("array")) return manyFields(bytes);
  return types.includes("string") ? "x" : types.includes("boolean") ? true : 1;
}

const manyFields = (bytes: number): object =>
  Object.fromEntries(Array.from({ length: bytes / 12 }, (_, at) => [at.toString(36), 0]));

const heaviest = (values: readonly unknown[]): unknown =>
  [...values].sort((one, other) => JSON.stringify(other).length - JSON.stringify(one).length)[0];

const NOWHERE: Resolve = () => true;
const text = { type: "string" };
const point = { type: "object", properties: { x: text, y: text } };

describe("the fields of a body", () => {
  it("are as many as its schema names, at all depths, through lists, branches and references", () => {
    const cases: [SchemaNode, number][] = [
      [text, 0],
      [point, 2],
      [{ type: "object", properties: { from: point, note: text } }, 4],
      [{ type: "array", items: point, maxItems: 10 }, 20],
      [{ type: "array", items: text }, 0],
      [{ type: "array", prefixItems: [point, text], items: false }, 2],
      [{ anyOf: [text, point, { type: "null" }] }, 2],
      [{ allOf: [point, { type: "object", properties: { z: text } }] }, 3],
      [{ ...point, dependentSchemas: { x: { properties: { z: point } } } }, 5],
      [{ ...point, anyOf: [{ required: ["x"] }, { required: ["y"] }] }, 2],
      [{ type: "object", additionalProperties: point, maxProperties: 3 }, 9],
      [{ type: "object", additionalProperties: false }, 0],
      [{ enum: ["a", "b", null] }, 0],
    ];
    for (const [schema, fields] of cases) expect(mostFields(schema, NOWHERE), JSON.stringify(schema)).to.equal(fields);
    const [list, tree] = [{ $ref: "#" }, { type: "object", properties: { next: { $ref: "#tree" } } }];
    expect(mostFields(list, () => point)).to.equal(2);
    expect(
      mostFields(tree, () => tree),
      "a schema that holds itself",
    ).to.equal(Number.POSITIVE_INFINITY);
  });

  it("have no bound where the schema says nothing of them", () => {
    for (const schema of [
      true,
      {},
      { type: "object" },
      { type: "object", properties: { data: {} } },
      { type: "object", additionalProperties: text },
      { type: "object", properties: {}, patternProperties: { "^x": text } },
      { type: "array", items: { type: "object", properties: { x: text } } },
      { anyOf: [text, {}] },
      { allOf: [point, { properties: { data: true } }] },
      { dependentSchemas: { x: point } },
    ])
      expect(mostFields(schema, NOWHERE), JSON.stringify(schema)).to.equal(Number.POSITIVE_INFINITY);
  });

  it("are counted once for each schema, however many others refer to it", () => {
    let resolved = 0;
    const twice = (depth: number): SchemaNode => {
      const next = { $ref: `#${depth}` };
      return { type: "object", properties: { a: next, b: next } };
    };
    const levels = Array.from({ length: 20 }, (_, depth) => twice(depth));
    const resolve: Resolve = (node) => {
      resolved++;
      return levels[Number((node as { $ref: string }).$ref.slice(1)) - 1] ?? text;
    };
    expect(mostFields(levels[19] as SchemaNode, resolve)).to.equal(2 ** 21 - 2);
    expect(resolved).to.be.below(100);
  });

  describe("of this repository's services", () => {
    let shop: WholeShop;
    before(async () => {
      shop = await openWholeShop();
    });
    after(() => shop.close());
    const paid = (): readonly Service[] =>
      shop.services.filter(({ routes, manifest }) => routes[0]?.method === "POST" && manifest.price !== undefined);

    const send = async (path: string, body: string): Promise<{ status: number; detail: string }> => {
      const pay = await shop.toPayments(path);
      const headers = { "content-type": "application/json", "payment-signature": pay() };
      const response = await fetch(shop.url + path, { method: "POST", headers, body });
      const { detail } = (await response.json()) as { detail?: unknown };
      return { status: response.status, detail: String(detail) };
    };

    it("are taken where there are as many as the schema allows, and unknown ones beside them", async () => {
      expect(paid()).to.have.length.above(15);
      for (const { manifest, path, input, bodyBytes, bodyFields } of paid()) {
        const largest = largestOf(input.document, input.nodes.resolve, bodyBytes - 20_000) as object;
        const body = JSON.stringify({ ...largest, unknown: manyFields(900 * 12) });
        expect(jsonShapeOf(Buffer.from(body), 64).fields, manifest.id).to.be.at.most(bodyFields);
        expect((await send(path, body)).status, manifest.id).to.not.equal(413);
      }
    });

    it("are refused where there are more, in a sentence that says how many are taken", async () => {
      const refused = await send("/v1/tldr", JSON.stringify({ text: "a", ...manyFields(60_000) }));
      expect(refused.status).to.equal(413);
      expect(refused.detail).to.equal(
        "The body has 5001 fields; this service takes 1002 at most, unknown ones included",
      );
    });
  });
});
