import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

const KEY = "k-3f9a62c1d7";

const RATE = `id: fx_rate
title: Exchange rate
description: The reference rate of two currencies.
route: POST /v1/fx
aliases: [GET /v1/fx]
price: "0.002"
proxy:
  upstream: frankfurter
  request: GET /v1/{date}
  query: { base: "{base}", symbols: "{symbols}", days: "{days*}", from: "payphone & co", v: 1.10, at: 01067, most: 5, to: +49, hue: 0x1F }
  headers: { accept-language: "{language}" }
  answer: { pick: /rates, rename: { usd: dollars }, wrap: rates }
input:
  type: object
  properties:
    date: { type: string, default: latest }
    base: { type: string }
    symbols: { type: array, items: { type: string } }
    days: { type: array, items: { type: integer } }
    language: { type: string, default: en }
  required: [base]
output:
  type: object
  properties:
    rates: { type: object, additionalProperties: { type: number } }
  required: [rates]
tags: [money]
examples:
  - input: { base: EUR, symbols: [USD] }
    output: { rates: { dollars: 1.1 } }
`;

describe("a proxied service", () => {
  let shop: ProxyShop;
  before(async () => {
    const upstream = (url: string): string =>
      `{ id: frankfurter, title: Frankfurter, url: "${url}/api?plan=free", retries: 0, key: { variable: FX_KEY, header: authorization, scheme: Bearer }, keys: [{ variable: FX_APP, query: app }, { variable: FX_ID, header: X-Id }] }`;
    shop = await openProxyShop({
      files: (url) => ({ "manifests/_site.yaml": siteOf(upstream(url)), "manifests/fx_rate.yaml": RATE }),
      env: { FX_KEY: KEY, FX_APP: "a-55", FX_ID: "i-1" },
    });
  });
  beforeEach(() => shop.source.script('{"amount":1,"rates":{"usd":1.1,"JPY":160}}'));
  after(() => shop.close());

  it("is somebody else's answer, paid for", async () => {
    const response = await shop.buy("/v1/fx", {
      date: "2026-01-02",
      base: "EUR",
      symbols: ["USD", "JPY"],
      days: [1, 2],
    });
    expect(response.status).to.equal(200);
    expect(await response.json()).to.deep.equal({ rates: { dollars: 1.1, JPY: 160 } });
    expect(shop.rail.moved.size).to.equal(1);
    const asked = shop.source.asked.at(-1);
    expect([asked?.method, asked?.path]).to.deep.equal([
      "GET",
      "/api/v1/2026-01-02?plan=free&app=a-55&base=EUR&symbols=USD,JPY&days=1&days=2&from=payphone%20%26%20co&v=1.10&at=01067&most=5&to=%2B49&hue=0x1F",
    ]);
    expect(asked?.headers).to.include({ authorization: `Bearer ${KEY}`, "accept-language": "en", "x-id": "i-1" });
  });

  it("asks nobody before it is paid", async () => {
    const before = shop.source.asked.length;
    expect((await shop.call("/v1/fx?base=EUR")).status).to.equal(402);
    expect(shop.source.asked.length).to.equal(before);
  });

  it("passes on nothing of the caller but the input", async () => {
    await shop.buy(
      "/v1/fx",
      { base: "EUR" },
      { cookie: "a=b", "x-forwarded-for": "10.0.0.1", "x-own": "1", te: "trailers" },
    );
    const names = Object.keys(shop.source.asked.at(-1)?.headers ?? {}).sort();
    expect(names).to.deep.equal([
      "accept",
      "accept-encoding",
      "accept-language",
      "authorization",
      "connection",
      "host",
      "user-agent",
      "x-id",
    ]);
  });
});

const ORDER = `id: order
title: Order
description: Orders a thing.
route: POST /v1/order
price: "0.002"
proxy: { upstream: shelf, request: "POST /things/{thing}" }
input: { type: object, properties: { thing: { type: string } }, required: [thing] }
output: { type: object, properties: { number: { type: integer } }, required: [number] }
tags: []
examples:
  - input: { thing: apple }
`;

describe("an order at an upstream that has failed", () => {
  for (const [what, more, status] of [
    ["once, since a second one might be another", "", 502],
    ["again where the manifest says that a second one changes nothing", "hints: { idempotent: true }\n", 200],
  ] as const)
    it(`is sent ${what}`, async () => {
      const files = (url: string) => ({
        "manifests/_site.yaml": siteOf(`{ id: shelf, title: The shelf, url: "${url}", retries: 1 }`),
        "manifests/order.yaml": ORDER + more,
      });
      const shop = await openProxyShop({ files });
      shop.source.script({ status: 500 }, { status: 200, body: '{"number":7}' });
      expect((await shop.buy("/v1/order", { thing: "apple" })).status).to.equal(status);
      await shop.close();
    });
});
