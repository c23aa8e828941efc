import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Line } from "../../support/sources/scripted-source.ts";

/** A service whose output takes whatever the upstream answers. */
const ANYTHING = `id: anything
title: Anything
description: Whatever the source answers.
route: POST /v1/anything
price: "0.002"
proxy: { upstream: source, request: GET /, answer: { wrap: result } }
input: { type: object, properties: {} }
output: { type: object, properties: { result: {} }, required: [result] }
tags: []
examples:
  - input: {}
`;
const OPTIONAL = ANYTHING.replaceAll("anything", "deed").replace(", required: [result]", "");

const typed = (id: string, type: string): string =>
  ANYTHING.replaceAll("anything", id).replace("result: {}", `result: { type: ${type} }`);

/** A list of mappings, and a mapping with one, no field of which is required. */
const NAMED = "{ type: object, properties: { name: { type: string } } }";
const LISTED = OPTIONAL.replaceAll("deed", "listed").replace("result: {}", `result: { type: array, items: ${NAMED} }`);
const NESTED = LISTED.replaceAll("listed", "nested").replace(
  /type: array.*(?= \} \})/,
  `type: object, properties: { data: ${NAMED}, list: { type: array, items: ${NAMED} }, total: {} } }`,
);

const JSON_TYPE = { "content-type": "application/json" };

describe("an answer that is put into a field of any type", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: source, title: The source, url: "${url}", retries: 0 }`),
        "manifests/anything.yaml": ANYTHING,
        "manifests/deed.yaml": OPTIONAL,
        "manifests/listed.yaml": LISTED,
        "manifests/nested.yaml": NESTED,
        "manifests/number.yaml": typed("number", "number"),
        "manifests/code.yaml": typed("code", "string"),
      }),
    });
  });
  after(() => shop.close());

  async function buy(id: string, line: Line): Promise<readonly [status: number, sales: number, output: unknown]> {
    const before = shop.rail.moved.size;
    shop.source.script(line);
    const response = await shop.buy(`/v1/${id}`, {});
    const { result } = (await response.json()) as { result?: unknown };
    return [response.status, shop.rail.moved.size - before, result];
  }

  const failures: readonly [what: string, line: Line][] = [
    ["half of JSON", { status: 200, headers: JSON_TYPE, body: '{"a": 1' }],
    ["an error in the place of JSON", { status: 200, headers: JSON_TYPE, body: "<br />Fatal error: out of memory" }],
    [
      "a problem that is no JSON",
      { status: 200, headers: { "content-type": "application/problem+json; charset=utf-8" }, body: "oops" },
    ],
    ["half of JSON of an older name", { status: 200, headers: { "content-type": "text/json" }, body: '{"a": 1' }],
    ["nothing in the place of JSON", { status: 200, headers: JSON_TYPE, body: "" }],
    ["nothing", { status: 200, body: "" }],
  ];
  for (const [what, line] of failures)
    it(`is not sold when it is ${what}`, async () => {
      expect(await buy("anything", line)).to.deep.equal([502, 0, undefined]);
    });

  it("has an integer that JavaScript would round as its digits, and is not sold where only numbers may be", async () => {
    const body = '{"id":12345678901234567890,"few":9007199254740991,"round":1e20}';
    const result = { id: "12345678901234567890", few: 9007199254740991, round: 1e20 };
    expect(await buy("anything", { status: 200, headers: JSON_TYPE, body })).to.deep.equal([200, 1, result]);
    const [id, lines] = ["12345678901234567890", { "content-type": "application/x-ndjson" }];
    const of = { lines: [{ id }] };
    expect(await buy("anything", { status: 200, headers: lines, body: `{"id":${id}}\n` })).to.deep.equal([200, 1, of]);
    expect(await buy("code", { status: 200, headers: JSON_TYPE, body: id })).to.deep.equal([200, 1, id]);
    for (const body of [id, "9".repeat(400)])
      expect(await buy("number", { status: 200, headers: JSON_TYPE, body })).to.deep.equal([502, 0, undefined]);
  });

  it("is sold when it is a text, or when its status says that there is none", async () => {
    expect(await buy("anything", { status: 200, headers: { "content-type": "text/csv" }, body: "" })).to.deep.equal([
      200,
      1,
      "",
    ]);
    expect(await buy("anything", { status: 200, body: "pong" })).to.deep.equal([200, 1, "pong"]);
    expect(await buy("anything", { status: 200, headers: JSON_TYPE, body: '"pong"' })).to.deep.equal([200, 1, "pong"]);
    for (const status of [204, 205]) expect(await buy("anything", { status, body: "" })).to.deep.equal([200, 1, ""]);
  });

  const numbers: readonly [what: string, id: string, type: string | undefined, body: string, result: unknown][] = [
    ["is a number where that loses nothing", "anything", "text/plain", "42\n", 42],
    ["stays a text where a number would be another version", "anything", "text/plain", "1.10", "1.10"],
    [
      "stays a text where a number would be rounded",
      "anything",
      undefined,
      "123456789012345678901",
      "123456789012345678901",
    ],
    ["is a number where the schema says so", "number", "text/plain", "1.10", 1.1],
    ["is a text where the schema says so", "code", "text/plain", "0.5", "0.5"],
    ["is a number of JSON", "anything", "application/json", "1.10", 1.1],
    ["is a text where the schema says so", "code", "text/plain", "true", "true"],
    ["is a text where the schema says so", "code", "text/plain", "null", "null"],
    ["is a text of JSON", "code", "application/json", '"null"', "null"],
  ];
  for (const [what, id, type, body, result] of numbers)
    it(`${what}: ${body.trim()} as ${type ?? "nothing"}`, async () => {
      const headers = type === undefined ? {} : { "content-type": type };
      expect(await buy(id, { headers, body })).to.deep.equal([200, 1, result]);
    });

  it("is not sold as a text when it may report a failure", async () => {
    expect(await buy("code", '{"error":"overloaded"}')).to.deep.equal([502, 0, undefined]);
  });

  it("may be nothing where the field is optional", async () => {
    expect(await buy("deed", { status: 200, headers: JSON_TYPE, body: "" })).to.deep.equal([200, 1, undefined]);
    expect(await buy("deed", { status: 200, body: "" })).to.deep.equal([200, 1, undefined]);
  });

  it("is sold, however deeply what the output does not name is nested", async () => {
    const body = `{"more":${"[".repeat(100_000)}${"]".repeat(100_000)},"data":{"name":"a"}}`;
    expect(await buy("nested", { status: 200, headers: JSON_TYPE, body })).to.deep.equal([
      200,
      1,
      { data: { name: "a" } },
    ]);
  });

  const emptied: readonly [id: string, answer: unknown][] = [
    ["listed", [{ title: "x" }, { title: "y" }]],
    ["nested", { data: { title: "x" } }],
    ["nested", { total: 2, list: [{ title: "x" }, {}] }],
  ];
  for (const [id, answer] of emptied)
    it(`is not sold where nothing is left of what it names: ${JSON.stringify(answer)}`, async () => {
      const line = { status: 200, headers: JSON_TYPE, body: JSON.stringify(answer) };
      expect(await buy(id, line)).to.deep.equal([502, 0, undefined]);
    });

  const thin: readonly [id: string, answer: unknown, sold: unknown][] = [
    ["listed", [{ title: "x" }, { name: "y", title: "y" }], [{}, { name: "y" }]],
    ["listed", [{ name: null, title: "x" }], [{}]],
    ["listed", [{}], [{}]],
    ["nested", { list: [], data: { title: "x" } }, { data: {}, list: [] }],
    ["nested", { total: 0, data: { title: "x" } }, { data: {}, total: 0 }],
  ];
  for (const [id, answer, sold] of thin)
    it(`is sold where something is left, or nothing was there: ${JSON.stringify(answer)}`, async () => {
      const line = { status: 200, headers: JSON_TYPE, body: JSON.stringify(answer) };
      expect(await buy(id, line)).to.deep.equal([200, 1, sold]);
    });
});
