import { expect } from "chai";
import { type Files, TOSS, writeFiles } from "../../../core/set/served-directory.ts";
import { type OperatedShop, openOperatedShop } from "../../../support/sellers/operator.ts";
import { json, type PayingFetch, stockFetch } from "../../../support/sellers/stock-buyer.ts";
import { openSource, type ScriptedSource } from "../../../support/sources/scripted-source.ts";

/** A shop whose answers from this address are kept for an hour; its named schema refers to another one. */
const toShop = (url: string, unit: object): Files => ({
  ...TOSS,
  "manifests/_site.yaml": `${TOSS["manifests/_site.yaml"]}upstreams: [{ id: bank, title: The bank, url: "${url}" }]\n`,
  "manifests/rate.yaml": `id: rate
title: Rate
description: The rate of a currency.
route: POST /v1/rate
price: "0.002"
proxy: { upstream: bank, request: GET /rates, cache: { seconds: 3600 } }
input: { type: object }
output: RateResponse
tags: [money]
examples: [{ input: {} }]
`,
  "schemas/RateResponse.json": JSON.stringify({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { rate: { $ref: "Rate.json" }, age_seconds: { type: "integer" } },
    required: ["rate", "age_seconds"],
  }),
  "schemas/Rate.json": JSON.stringify({
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: { value: { type: "number" }, ...unit },
    required: ["value", ...Object.keys(unit)],
  }),
});

describe("answers that a live shop keeps", function () {
  this.timeout(120_000);
  let [test, live] = [undefined, undefined] as unknown as [ScriptedSource, ScriptedSource];
  let shop: OperatedShop;
  let pay: PayingFetch;

  before(async () => {
    [test, live] = await Promise.all([openSource(), openSource()]);
    test.script('{"rate":{"value":1}}', '{"rate":{"value":2,"unit":"EUR"}}');
    live.script('{"rate":{"value":3,"unit":"EUR"}}');
    shop = await openOperatedShop(toShop(test.url, {}));
    pay = await stockFetch(shop.sandbox, "base");
  });
  after(async () => {
    await shop?.close();
    await Promise.all([test.close(), live.close()]);
  });
  const buy = async (): Promise<readonly [number, unknown]> => {
    const response = await pay(`${shop.running.url}/v1/rate`, json({}));
    const { rate } = (await response.json()) as { readonly rate?: unknown };
    return [response.status, rate];
  };
  const sell = async (files: Files): Promise<void> => {
    await writeFiles(shop.dir, files);
    await shop.running.changes.apply("test");
  };

  it("are sold until they are too old, over a change that does not concern them", async () => {
    expect(await buy()).to.deep.equal([200, { value: 1 }]);
    await sell({ ...toShop(test.url, {}), "manifests/toss.yaml": `${TOSS["manifests/toss.yaml"]}category: games\n` });
    expect(await buy()).to.deep.equal([200, { value: 1 }]);
  });

  it("are not sold under another schema, however it is named", async () => {
    await sell(toShop(test.url, { unit: { type: "string" } }));
    expect(await buy()).to.deep.equal([200, { value: 2, unit: "EUR" }]);
  });

  it("are not sold as those of another address", async () => {
    await sell(toShop(live.url, { unit: { type: "string" } }));
    expect(await buy()).to.deep.equal([200, { value: 3, unit: "EUR" }]);
  });
});
