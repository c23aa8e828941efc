import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { encode } from "../../support/sellers/signed.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

const POST = `id: post
title: Post
description: One post of the network, by its id.
route: POST /v1/post
aliases: [GET /v1/post]
price: "0.001"
proxy: { upstream: net, request: POST /posts, body: input }
input:
  type: object
  properties: { id: { type: [integer, string] }, more: { type: array, items: { type: number } } }
  required: [id]
output: { type: object, properties: { text: { type: string } } }
tags: []
examples: [{ input: { id: 1 } }]
`;
/** The last digit is lost in a number of JavaScript. */
const ID = "1234567890123456789";

describe("an integer of the input that JavaScript rounds", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: net, title: The net, url: "${url}", retries: 0 }`),
        "manifests/post.yaml": POST,
      }),
    });
    shop.source.script('{"text":"hi"}');
  });
  after(() => shop.close());
  /** Sends JSON as it stands, paid where a service's challenge is answered. */
  async function send(path: string, body: string, payment?: object): Promise<string> {
    const paid = payment && { "payment-signature": encode(payment) };
    const headers = { "content-type": "application/json", ...paid };
    return (await fetch(shop.url + path, { method: "POST", headers, body })).text();
  }
  const payFor = async (): Promise<object> => shop.pay(JSON.parse(await send("/v1/post", "{}")));

  const expectRefused = (answer: string): void => {
    expect(answer).to.match(/integer of more than 53 bits is not exact/);
    expect([shop.rail.moved.size, shop.source.asked.length], "charged, asked").to.deep.equal([0, 0]);
  };

  for (const [what, input, place] of [
    ["a field", `{"id":${ID}}`, '["body","id"]'],
    ["a list", `{"id":"1","more":[1,-${ID}]}`, '["body","more",1]'],
  ] as const)
    it(`is refused in ${what}, and charged to nobody`, async () => {
      const answer = await send("/v1/post", input, await payFor());
      expectRefused(answer);
      expect(answer).to.include(`"loc":${place}`);
    });

  it("is refused in a query, which is sent on as JSON", async () => {
    const payment = await payFor();
    for (const [query, place] of [
      [`id=1&more=${ID}`, '["query","more",0]'],
      [`id=1&more=1&more=-${ID}`, '["query","more",1]'],
      [`id=1&more=[2,${ID}]`, '["query","more",1]'],
    ]) {
      const headers = { "payment-signature": encode(payment) };
      const answer = await (await fetch(`${shop.url}/v1/post?${query}`, { headers })).text();
      expectRefused(answer);
      expect(answer).to.include(`"loc":${place}`);
    }
  });

  it("is refused of a tool", async () => {
    const args = (id: string): string =>
      `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"post","arguments":{"id":${id}}}}`;
    const challenge = JSON.parse(await send("/mcp", args("1"))).result.structuredContent;
    expectRefused(await send("/mcp", args(ID), shop.pay(challenge)));
  });

  it("is refused of a skill before its task waits for a payment", async () => {
    for (const part of [`{"text":"post {\\"id\\":${ID}}"}`, `{"data":{"skill":"post","input":{"id":${ID}}}}`]) {
      const message = `{"messageId":"m","role":"user","parts":[${part}]}`;
      const body = `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":${message}}}`;
      expectRefused(await send("/v1/a2a", body));
    }
  });

  it("is dropped in an unknown field, and what JavaScript keeps reaches the API as it was sent", async () => {
    for (const input of ['{"id":1000000000000000000}', `{"id":"${ID}"}`]) {
      expect(await send("/v1/post", `${input.slice(0, -1)},"unknown":${ID}}`, await payFor())).to.equal(
        '{"text":"hi"}',
      );
      expect(shop.source.asked.at(-1)?.body).to.equal(input);
    }
  });
});
