import { expect } from "chai";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import type { Manifest } from "../../../runtime/core/set/manifest.ts";
import { createCachedWork } from "../../../runtime/drivers/proxy/cached.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";

const LOOSE = `id: loose
title: Loose
description: What is known of a currency.
route: POST /v1/loose
price: "0.002"
proxy: { upstream: bank, request: GET /loose, cache: { seconds: 60 } }
input: { type: object, properties: {} }
output: { type: object, properties: { rate: { type: number }, age_seconds: { type: integer } } }
tags: []
examples:
  - input: {}
`;
const RATE = `id: rate
title: Rate
description: The rate of a currency.
route: POST /v1/rate
price: "0.002"
proxy:
  upstream: bank
  request: GET /rates
  query: { base: "{base}" }
  cache: { seconds: 60, by: [base] }
input: { type: object, properties: { base: { type: string } }, required: [base] }
output: { type: object, properties: { rate: { type: number }, age_seconds: { type: integer } }, required: [rate, age_seconds] }
tags: []
examples:
  - input: { base: EUR }
`;

const FREE = `id: free
title: Free
description: The rate of a currency, for nothing.
route: POST /v1/free
proxy: { upstream: bank, request: POST /free, body: input, cache: { seconds: 60 } }
input: { type: object, properties: { base: { type: string } }, required: [base] }
output: { type: object, properties: { rate: { type: number }, age_seconds: { type: integer } } }
tags: []
examples:
  - input: { base: EUR }
`;

const OPEN = `id: open
title: Open
description: The weather of a place.
route: POST /v1/open
price: "0.002"
proxy: { upstream: bank, request: GET /weather, query: { city: "{place.city}" }, cache: { seconds: 60, by: [place] } }
input:
  type: object
  properties: { place: { type: object, properties: { city: { type: string } } } }
  additionalProperties: true
output: { type: object, properties: { rate: { type: number }, age_seconds: { type: integer } } }
tags: []
examples:
  - input: { place: { city: Berlin } }
`;

describe("an upstream's answer that is kept", () => {
  let shop: ProxyShop;
  beforeEach(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: bank, title: The bank, url: "${url}", retries: 0 }`),
        "manifests/rate.yaml": RATE,
        "manifests/loose.yaml": LOOSE,
        "manifests/free.yaml": FREE,
        "manifests/open.yaml": OPEN,
      }),
    });
  });
  afterEach(() => shop.close());

  const buy = async (base: string): Promise<unknown> => (await shop.buy("/v1/rate", { base })).json();

  it("is charged like others, says its age, and is asked for again when it is too old", async () => {
    shop.source.script('{"rate":1}', '{"rate":2}', '{"rate":3}');
    const begun = shop.clock.now();
    expect(await buy("EUR")).to.deep.equal({ rate: 1, age_seconds: 0 });
    shop.clock.advance(20_000);
    const kept = (await buy("EUR")) as { readonly rate: number; readonly age_seconds: number };
    expect(kept.rate).to.equal(1);
    expect(kept.age_seconds).to.be.within(20, (shop.clock.now() - begun) / 1000); // The clock goes on by itself, too.
    expect(await buy("USD")).to.deep.equal({ rate: 2, age_seconds: 0 });
    shop.clock.advance(41_000);
    expect(await buy("EUR")).to.deep.equal({ rate: 3, age_seconds: 0 });
    expect([shop.rail.moved.size, shop.source.asked.length]).to.deep.equal([4, 3]);
  });

  it("is no failure", async () => {
    shop.source.script(500, '{"rates":1}', '{"rate":3}');
    expect((await shop.buy("/v1/rate", { base: "EUR" })).status).to.equal(502);
    expect((await shop.buy("/v1/rate", { base: "EUR" })).status).to.equal(502);
    expect(await buy("EUR")).to.deep.equal({ rate: 3, age_seconds: 0 });
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is not sold where nothing but its age is left of it", async () => {
    for (const answer of ['{"error":"no such currency"}', '{"data":{}}']) {
      shop.source.script(answer);
      expect([(await shop.buy("/v1/loose", {})).status, shop.rail.moved.size], answer).to.deep.equal([502, 0]);
    }
  });

  it("is sold to nobody who asks for another one, also where an unnamed field takes the place of a named one", async () => {
    shop.source.script('{"rate":1}', '{"rate":2}');
    const place = { city: "Berlin" };
    const [first, second] = [{ place, "place.city": "Paris" }, { place }];
    expect(await (await shop.buy("/v1/open", first)).json()).to.include({ rate: 1 });
    expect(await (await shop.buy("/v1/open", second)).json()).to.include({ rate: 2 });
    expect(shop.source.asked.map(({ path }) => path)).to.deep.equal(["/weather?city=Paris", "/weather?city=Berlin"]);
  });

  it("is for no input with half a character: 422 also where nothing is paid", async () => {
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${shop.url}/v1/free`, { method: "POST", headers, body: '{"base":"\\ud800"}' });
    expect([answer.status, shop.source.asked.length], await answer.text()).to.deep.equal([422, 0]);
  });

  it("is kept for the same manifest, schemas and address only", async () => {
    const keyOf = async (path: string, type: string, urlDigest: string): Promise<string> => {
      const compile = createCompiler(new Map([["Part", { type: "object", properties: { rate: { type } } }]]));
      const keys: string[] = [];
      const work = createCachedWork(async () => ({}), {
        manifest: { proxy: { upstream: "bank", request: `GET ${path}`, cache: { seconds: 1 } } } as Manifest,
        output: compile({ type: "object", properties: { part: { $ref: "Part.json" } } }),
        urlDigest,
        cache: {
          async remember(key: string) {
            keys.push(key);
            return { value: {}, storedAt: 0 } as never;
          },
        } as never,
        clock: { now: () => 0 },
      });
      await work({ base: "EUR" }, new AbortController().signal, "");
      return keys.join();
    };
    const [first, again, ...others] = await Promise.all([
      keyOf("/a", "number", "x"),
      keyOf("/a", "number", "x"),
      keyOf("/b", "number", "x"),
      keyOf("/a", "integer", "x"),
      keyOf("/a", "number", "y"),
    ]);
    expect(again).to.equal(first);
    expect(new Set([first, ...others]).size).to.equal(4);
  });
});
