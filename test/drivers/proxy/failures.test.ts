import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { breaks, hangs, type Line, stalls } from "../../support/sources/scripted-source.ts";

const KEY = "k-3f9a62c1d7";
const PASSWORD = "p/ss=w0rd&more";

const LOOKUP = `id: lookup
title: Look-up
description: Looks a word up.
route: POST /v1/lookup
price: "0.002"
proxy:
  upstream: book
  request: GET /words/{word}
  answer: { max_bytes: 4096 }
  charge_on: [200]
input: { type: object, properties: { word: { type: string } }, required: [word] }
output: { type: object, properties: { meaning: { type: string } }, required: [meaning] }
tags: []
examples:
  - input: { word: apple }
`;

/** What is sold is that the call was made. */
const ACKNOWLEDGED = LOOKUP.replaceAll("lookup", "acknowledged").replace(
  /^output: .*$/m,
  "output: { type: object, additionalProperties: false }",
);
/** As imports write it of documents that require no field. */
const VAGUE = LOOKUP.replaceAll("lookup", "vague")
  .replace("  charge_on: [200]\n", "")
  .replace(", required: [meaning] }\ntags", " }\ntags");
const BASE = "allOf: [{ type: object, properties: { meaning: { type: string } } }]";
const INSIDE = VAGUE.replaceAll("vague", "inside")
  .replace("answer: {", "answer: { wrap: it,")
  .replace(/^output: .*$/m, `output: { type: object, properties: { it: { type: object, ${BASE} } } }`);

const json = (status: number, body: unknown, headers = {}): Line => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});
const html = (status: number): Line => ({
  status,
  headers: { "content-type": "text/html" },
  body: "<html><body>Internal stack trace</body></html>",
});

describe("a proxied service whose upstream fails", () => {
  let shop: ProxyShop;
  const open = async (): Promise<void> => {
    const book = (url: string): string =>
      `{ id: book, title: The book, url: "${url}", retries: 0, key: { variable: BOOK_KEY, header: authorization, scheme: Bearer } }`;
    const brief = (url: string): string =>
      `{ id: brief, title: The book, url: "${url}", retries: 0, timeout_seconds: 1 }`;
    const shelf = (url: string): string =>
      `{ id: shelf, title: The shelf, url: "${url}", retries: 0, key: { variable: SHELF_KEY, query: secret } }`;
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(book(url), brief(url), shelf(url)),
        "manifests/lookup.yaml": LOOKUP,
        "manifests/hurried.yaml": LOOKUP.replaceAll("lookup", "hurried").replace("upstream: book", "upstream: brief"),
        "manifests/shelved.yaml": LOOKUP.replaceAll("lookup", "shelved").replace("upstream: book", "upstream: shelf"),
        "manifests/acknowledged.yaml": ACKNOWLEDGED,
        "manifests/vague.yaml": VAGUE,
        "manifests/inside.yaml": INSIDE,
      }),
      env: { BOOK_KEY: KEY, SHELF_KEY: PASSWORD },
    });
  };
  beforeEach(open);
  afterEach(() => shop.close());

  const failures: readonly [what: string, line: Line, status: number, code: string, detail: RegExp][] = [
    [
      "400 with its words",
      json(400, { error: { message: "no such word" } }),
      400,
      "unparseable-input",
      /^The book: no such word$/,
    ],
    [
      "422 with a list of errors",
      json(422, { errors: [{ detail: "bad\nword" }] }),
      400,
      "unparseable-input",
      /^The book: bad word$/,
    ],
    ["412", json(412, { message: "changed since" }), 400, "unparseable-input", /^The book: changed since$/],
    ["431", { status: 431 }, 400, "unparseable-input", /^The book answered with status 431$/],
    ["404", json(404, { detail: "nothing <b>here</b>" }), 404, "not-found", /^The book: nothing here$/],
    ["410", json(410, { detail: "gone" }), 404, "not-found", /^The book: gone$/],
    ["404 with a page", html(404), 404, "not-found", /^The book answered with status 404$/],
    ["400 with a long text", json(400, { message: "x".repeat(4000) }), 400, "unparseable-input", /^The book: x{299}…$/],
    ["401", json(401, { message: "bad key" }), 500, "internal", /^Something went wrong on our side$/],
    ["401 that names our credential", json(401, { message: `bad ${KEY}` }), 500, "internal", /^Something went wrong/],
    ["403", json(403, { message: "not yours" }), 500, "internal", /^Something went wrong on our side$/],
    ["402", json(402, { message: "pay us" }), 500, "internal", /^Something went wrong on our side$/],
    ["429", json(429, {}, { "retry-after": "7" }), 503, "unavailable", /^The book has been asked too often$/],
    ["403 that asks for a pause", json(403, {}, { "retry-after": "7" }), 503, "unavailable", /asked too often$/],
    ["500", html(500), 502, "upstream-failed", /^The book answered with status 500$/],
    ["503", json(503, {}), 502, "upstream-failed", /status 503/],
    [
      "a success that is not the one that is sold",
      json(202, { meaning: "later" }),
      502,
      "upstream-failed",
      /status 202/,
    ],
    [
      "a redirect to elsewhere",
      { status: 302, headers: { location: "http://127.0.0.1:9/latest/meta-data" } },
      502,
      "upstream-failed",
      /status 302/,
    ],
    ["what does not fit", json(200, { meanings: 3 }), 502, "upstream-failed", /does not fit/],
    ["a page", html(200), 502, "upstream-failed", /does not fit/],
    ["nothing", { status: 200, body: "" }, 502, "upstream-failed", /does not fit/],
    ["half of JSON", { status: 200, body: '{"meaning": "appl' }, 502, "upstream-failed", /does not fit/],
    ["JSON without end", { status: 200, body: "[".repeat(4000) }, 502, "upstream-failed", /does not fit/],
    ["too much", json(200, { meaning: "x".repeat(5000) }), 502, "upstream-failed", /more than 4096 bytes/],
    ["a broken connection", breaks, 502, "upstream-failed", /could not be reached/],
    [
      "less than it has promised",
      { status: 200, headers: { "content-length": "900" }, body: "{}" },
      502,
      "upstream-failed",
      /./,
    ],
    ["our credential", json(200, { meaning: `you sent Bearer ${KEY}` }), 502, "upstream-failed", /a secret/],
    [
      "our credential, escaped",
      { status: 200, body: `{"meaning":"${KEY.replace("k", "\\u006b")}"}` },
      502,
      "upstream-failed",
      /a secret/,
    ],
    ["our credential in an error", json(400, { message: `bad key ${KEY}` }), 502, "upstream-failed", /a secret/],
  ];
  for (const [what, line, status, code, detail] of failures)
    it(`answers ${status} to ${what}, and charges nothing`, async () => {
      shop.source.script(line);
      const response = await shop.buy("/v1/lookup", { word: "apple" });
      const body = await response.text();
      expect([response.status, JSON.parse(body).code]).to.deep.equal([status, code]);
      expect(JSON.parse(body).detail).to.match(detail);
      expect(shop.rail.moved.size).to.equal(0);
      expect(body + shop.output()).to.not.contain(KEY);
      if (status === 503) expect(response.headers.get("retry-after")).to.equal("7");
    });

  it("logs of what kind an answer was that cannot be read", async () => {
    shop.source.script(html(200));
    await shop.buy("/v1/lookup", { word: "apple" });
    expect(shop.output()).to.match(/it is an HTML page, .*: text\/html, \d+ bytes"/);
  });

  it("logs where a redirect leads that is not followed, and tells no buyer", async () => {
    shop.source.script({ status: 308, headers: { location: "https://elsewhere.example/words/?key=one-time" } });
    const said = await (await shop.buy("/v1/lookup", { word: "apple" })).text();
    expect(shop.output()).to.include(
      "The book answered with status 308, and leads to https://elsewhere.example/words/",
    );
    expect(shop.output()).not.to.include("one-time");
    expect(said).to.include("The book answered with status 308").and.not.include("elsewhere");
  });

  for (const [what, line] of Object.entries({ silence: hangs, "a beginning and then silence": stalls }))
    it(`answers 502 to ${what}, and charges nothing`, async () => {
      shop.source.script(line);
      const response = await shop.buy("/v1/hurried", { word: "apple" });
      expect([response.status, ((await response.json()) as { detail: string }).detail]).to.deep.equal([
        502,
        "The book did not answer in time",
      ]);
      expect(shop.rail.moved.size).to.equal(0);
    });

  for (const [service, meant, empty] of [
    ["vague", { meaning: "a fruit" }, {}],
    ["inside", { it: { meaning: "a fruit" } }, { it: {} }],
  ] as const)
    it(`charges nothing for an answer without a field that the output names, though none is required: ${service}`, async () => {
      const lookUp = async (): Promise<[status: number, body: unknown]> => {
        const response = await shop.buy(`/v1/${service}`, { word: "apple" });
        return [response.status, await response.json()];
      };
      shop.source.script(json(200, { error: "quota exceeded" }), json(302, { meaning: "elsewhere" }));
      for (const what of ["an error with status 200", "no status of success"])
        expect([(await lookUp())[0], shop.rail.moved.size], what).to.deep.equal([502, 0]);
      shop.source.script(
        json(200, { meaning: "a fruit", page: 7 }),
        json(200, { meaning: null, page: 7 }),
        json(200, {}),
      );
      expect(await lookUp()).to.deep.equal([200, meant]);
      expect(await lookUp()).to.deep.equal([200, empty]);
      expect(await lookUp()).to.deep.equal([200, empty]);
      expect(shop.rail.moved.size).to.equal(3);
    });

  it("sells that a call was made, where the output names nothing", async () => {
    shop.source.script(json(200, { id: 7 }));
    const response = await shop.buy("/v1/acknowledged", { word: "apple" });
    expect([response.status, await response.json(), shop.rail.moved.size]).to.deep.equal([200, {}, 1]);
  });

  it("sells the same payment's answer once the upstream works again", async () => {
    shop.source.script(json(500, {}), json(200, { meaning: "a fruit" }));
    const challenge = (await (await shop.call("/v1/lookup", { word: "apple" })).json()) as never;
    const payment = Buffer.from(JSON.stringify(shop.pay(challenge))).toString("base64");
    const send = (): Promise<Response> => shop.call("/v1/lookup", { word: "apple" }, { "payment-signature": payment });
    expect((await send()).status).to.equal(502);
    expect(await (await send()).json()).to.deep.equal({ meaning: "a fruit" });
    expect(await (await send()).json()).to.deep.equal({ meaning: "a fruit" });
    expect([shop.rail.moved.size, shop.source.asked.length]).to.deep.equal([1, 2]);
  });

  it("says in /ready that its credential is refused, until it is accepted", async () => {
    shop.source.script(json(401, {}), json(200, { meaning: "a fruit" }));
    await shop.buy("/v1/lookup", { word: "apple" });
    const reason = "The book refuses the credential that it is sent (status 401)";
    expect(shop.statusOf("book")).to.deep.equal({ state: "down", reason });
    expect(shop.output()).to.contain("upstream.refused");
    await shop.buy("/v1/lookup", { word: "apple" });
    expect(shop.statusOf("book")).to.deep.equal({ state: "up" });
  });

  it("never shows the credential that stands in its query", async () => {
    shop.source.script(
      json(400, { message: `GET /words/apple?secret=${encodeURIComponent(PASSWORD)} failed` }),
      breaks,
    );
    const bodies = [
      await (await shop.buy("/v1/shelved", { word: "apple" })).text(),
      await (await shop.buy("/v1/shelved", { word: "apple" })).text(),
    ];
    expect(shop.source.asked[0]?.path).to.equal("/words/apple?secret=p%2Fss%3Dw0rd%26more");
    const shown = bodies.join() + shop.output();
    for (const form of [PASSWORD, encodeURIComponent(PASSWORD), "p%2Fss"]) expect(shown).to.not.contain(form);
    expect(shop.rail.moved.size).to.equal(0);
  });
});
