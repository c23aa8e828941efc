import { expect } from "chai";
import type { HandlerParts } from "../../../runtime/api/plugin.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { encode } from "../../support/sellers/signed.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { breaks } from "../../support/sources/scripted-source.ts";

const service = (id: string, more: string): string => `id: ${id}
title: Order
description: Orders a thing.
route: POST /v1/${id}
price: "0.01"
${more}
proxy:
  upstream: store
  request: POST /orders
  body: input
input: { type: object, properties: { thing: { type: string } }, required: [thing] }
output: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
tags: []
examples:
  - input: { thing: apple }
`;
const REPEATABLE = "hints: { readOnly: false, idempotent: true }\ncharge: first";

describe("the Idempotency-Key of a proxied request", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: store, title: The store, url: "${url}", retries: 0 }`),
        "manifests/quote.yaml": service("quote", "hints: { readOnly: true }"),
        "manifests/order.yaml": service("order", REPEATABLE),
        "manifests/own.yaml": service("own", REPEATABLE).replace(
          "  body:",
          '  headers: { Idempotency-Key: "mine-{thing}" }\n  body:',
        ),
      }),
    });
  });
  after(() => shop.close());

  const keys = (since: number): unknown[] =>
    shop.source.asked.slice(since).map(({ headers }) => headers["idempotency-key"]);

  it("stays the same when work that was paid first is done again", async () => {
    const before = shop.source.asked.length;
    shop.source.script(breaks, '{"ok":true}');
    const { payment, body } = await order("order");
    expect((await shop.call("/v1/order", body, payment)).status).to.equal(502);
    expect((await shop.call("/v1/order", body, payment)).status).to.equal(200);
    const [key, again] = keys(before);
    expect(key).to.match(/^[\w-]{36}$/);
    expect(again).to.equal(key);
  });

  it("is not one that the caller chooses, and belongs to one call", async () => {
    const before = shop.source.asked.length;
    shop.source.script('{"ok":true}');
    for (let at = 0; at < 2; at += 1)
      await shop.buy("/v1/quote", { thing: "apple" }, { "x-request-id": "abc", "idempotency-key": "abc" });
    const [one, two] = keys(before);
    expect(one).to.match(/^[\w-]{36}$/);
    expect(two)
      .to.match(/^[\w-]{36}$/)
      .and.not.equal(one);
  });

  it("is not one that the caller of a free call chooses", async () => {
    const before = shop.source.asked.length;
    shop.source.script('{"ok":true}');
    const { run } = shop.handlers.get("proxy:order") as HandlerParts<object, unknown>;
    const call = {
      service: "order",
      signal: new AbortController().signal,
      step: (_: string, work: () => Promise<never>) => work(),
      report() {},
    };
    await run({ thing: "apple" }, { ...call, id: "abc", payer: `0x${"1".repeat(40)}`, network: undefined });
    await run({ thing: "apple" }, { ...call, id: "owed", payer: undefined, network: "eip155:8453" });
    const [free, paid] = keys(before);
    expect(free).to.match(/^[\w-]{36}$/);
    expect(paid).to.equal("owed");
  });

  it("is the manifest's where that sets one", async () => {
    const before = shop.source.asked.length;
    shop.source.script('{"ok":true}');
    await shop.buy("/v1/own", { thing: "apple" });
    expect(keys(before)).to.deep.equal(["mine-apple"]);
  });

  async function order(id: string): Promise<{ payment: Record<string, string>; body: object }> {
    const body = { thing: "apple" };
    const payment = shop.pay((await (await shop.call(`/v1/${id}`, body)).json()) as never);
    return { payment: { "payment-signature": encode(payment) }, body };
  }
});
