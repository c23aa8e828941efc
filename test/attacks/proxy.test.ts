import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { createGuardedFetch } from "../../runtime/drivers/http/guarded-fetch.ts";
import { removeDirectories } from "../core/set/served-directory.ts";
import { openProxyShop, type ProxyShop } from "../support/sellers/proxy-shop.ts";
import { siteOf } from "../support/sellers/site-of.ts";
import { type Asked, hangs, type Line } from "../support/sources/scripted-source.ts";
import type { Loose } from "../surfaces/mcp/served/support/stall.ts";

const KEY = "k-3f9a62c1d7";

const toManifest = (id: string, request: string, parts: string): string => `id: ${id}
title: ${id}
description: Passes a text on.
route: POST /v1/${id}
price: "0.002"
proxy:
  upstream: inner
  request: ${request}
${parts}input: { type: object, properties: { text: { type: string } }, required: [text] }
output: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
tags: []
examples:
  - input: { text: plain }
`;

const toFree = (manifest: string): string => manifest.replace(/^price.*\n/m, "");

/** Texts that try to be more than a text. */
const TRICKS: readonly string[] = [
  ...["..", ".", "...", "../", "../admin", "..%2fadmin", "%2e%2e", "%2e%2e%2f", "..%5c", "..\\admin", "a/../../admin"],
  ...[
    "/",
    "//evil.example",
    "/admin",
    "a/b",
    "a%2fb",
    "a%2Fb",
    "%252f",
    "%252e%252e%252f",
    "a\\b",
    "%5c",
    "..;/",
    ";/..",
  ],
  ...[
    "?",
    "?admin=1",
    "a?admin=1",
    "%3fadmin=1",
    "#",
    "#top",
    "a#b",
    "%23",
    "&admin=1",
    "a&admin=1&b=",
    "=",
    "a=b",
    ";admin=1",
  ],
  ...[
    "\r\nx-admin: 1",
    "a\r\n\r\nGET /admin HTTP/1.1",
    "%0d%0ax-admin: 1",
    "\n",
    "\r",
    "a\nb",
    "\u0085",
    "\u2028x-admin: 1",
  ],
  ...[
    "\0",
    "a\0b",
    "%00",
    "a%00.json",
    "\x7f",
    "\x1b[2J",
    "\ud800",
    "a\udfff",
    "\u202e",
    "\ufeff",
    "ＡＤＭＩＮ",
    "．．／",
  ],
  ...[
    "@evil.example",
    "evil.example:80",
    "http://evil.example/",
    "//user:pass@evil.example",
    "[::1]",
    "a b",
    " a",
    "a ",
    "\t",
  ],
  ...[
    '","admin":true,"',
    '"}',
    "{text}",
    "{{text}}",
    "{/id}",
    "$\u007btext}",
    "%",
    "%zz",
    "+",
    "a+b",
    ",",
    "a,b",
    "__proto__",
    "x".repeat(5000),
  ],
];

describe("texts of callers that try to be more than texts", () => {
  let shop: ProxyShop;
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(
          `{ id: inner, title: The inside, url: "${url}/api?plan=free", retries: 0, key: { variable: INNER_KEY, header: x-key } }`,
        ),
        "manifests/in_path.yaml": toManifest("in_path", "GET /v1/{text}/end", "  query: { fixed: yes }\n"),
        "manifests/in_query.yaml": toFree(
          toManifest("in_query", "GET /v1", '  query: { text: "{text}", last: "x" }\n'),
        ),
        "manifests/in_header.yaml": toFree(toManifest("in_header", "GET /v1", '  headers: { x-text: "{text}" }\n')),
        "manifests/in_body.yaml": toFree(
          toManifest("in_body", "POST /v1", '  body: { text: "{text}", also: "[{text}]" }\n'),
        ),
        "manifests/in_form.yaml": toFree(toManifest("in_form", "POST /v1", "  encoding: form\n  body: input\n")),
      }),
      env: { INNER_KEY: KEY },
    });
    shop.source.script('{"ok":true}');
  });
  after(async () => {
    await shop.close();
    await removeDirectories();
  });

  /** What reaches the upstream, which must be nothing but the text in its place; undefined if it was refused unpaid. */
  async function pass(place: string, text: string): Promise<Asked | undefined> {
    const [asked, paid] = [shop.source.asked.length, shop.rail.moved.size];
    const price = place === "path" ? 1 : 0;
    const response = await shop[price ? "buy" : "call"](`/v1/in_${place}`, { text });
    if (response.status === 200) {
      expect([shop.source.asked.length, shop.rail.moved.size]).to.deep.equal([asked + 1, paid + price]);
      return shop.source.asked.at(-1);
    }
    expect([response.status, await response.text()].join()).to.match(/^(?:422|413|400),/);
    expect([shop.source.asked.length, shop.rail.moved.size]).to.deep.equal([asked, paid]);
    return undefined;
  }

  it("are more than sixty", () => {
    expect(new Set(TRICKS).size).to.be.greaterThan(60);
  });

  for (const text of TRICKS) {
    const name = JSON.stringify(text.slice(0, 30));

    it(`stay one segment of a path, or are refused: ${name}`, async () => {
      const asked = await pass("path", text);
      if (!asked) return;
      const [path = "", query] = asked.path.split("?");
      expect(query).to.equal("plan=free&fixed=yes");
      const [, api, v1, segment = "", end, ...rest] = path.split("/");
      expect([api, v1, decodeURIComponent(segment), end, rest.length]).to.deep.equal(["api", "v1", text, "end", 0]);
      expect(segment).to.not.match(/%2f|%5c|%00|%0d|%0a|^\.{1,2}$/i);
      expect(decodeURIComponent(segment)).to.not.match(/%2f|%5c|%2e|%00/i);
    });

    it(`stay one value of a query, or are refused: ${name}`, async () => {
      const asked = await pass("query", text);
      if (!asked) return;
      const { pathname, searchParams, hash } = new URL(asked.path, "http://inner");
      expect([pathname, hash]).to.deep.equal(["/api/v1", ""]);
      expect([...searchParams]).to.deep.equal([
        ["plan", "free"],
        ["text", text],
        ["last", "x"],
      ]);
    });

    it(`stay one header, or are refused: ${name}`, async () => {
      const asked = await pass("header", text);
      if (!asked) return;
      const { "x-text": value, ...rest } = asked.headers;
      expect(value).to.equal(text);
      expect(Object.keys(rest).sort()).to.deep.equal([
        "accept",
        "accept-encoding",
        "connection",
        "host",
        "user-agent",
        "x-key",
      ]);
    });

    it(`stay texts of a body and of a form: ${name}`, async () => {
      const asked = await pass("body", text);
      if (asked) expect(JSON.parse(asked.body)).to.deep.equal({ text, also: `[${text}]` });
      const form = await pass("form", text);
      if (form) expect([...new URLSearchParams(form.body)]).to.deep.equal([["text", text]]);
    });
  }
});

const FETCH = `id: fetch
title: fetch
description: Fetches a page.
route: POST /v1/fetch
price: "0.002"
proxy:
  request: GET {url}
  headers: { accept-language: en }
input: { type: object, properties: { url: { type: string, format: uri } }, required: [url] }
output: { type: object, properties: { ok: { type: boolean } }, required: [ok] }
tags: []
examples:
  - input: { url: "https://pages.example.com/a" }
`;
const SHOT = toManifest("shot", "GET /shot", '  query: { page: "{text}" }\n')
  .replace("{ type: string }", "{ type: string, format: uri }")
  .replace("plain", "https://pages.example.com/a");
const NESTED = toManifest("nested", "POST /shots", "  body: input\n")
  .replace("{ text: { type: string } }, required: [text]", "{ pages: { type: array, items: { $ref: Page.json } } }")
  .replace("text: plain", 'pages: [{ link: "https://pages.example.com/a" }]');
const PAGE = {
  type: "object",
  properties: { link: { anyOf: [{ type: "string", format: "uri" }] }, more: { type: "array", items: { $ref: "#" } } },
};

describe("an address that a caller names", () => {
  let shop: ProxyShop;
  /** Names lead to the source, which counts as public only for what is asked by `pages.example.com`. */
  const web = createGuardedFetch({
    lookup: (hostname, _options, callback) =>
      callback(
        null,
        hostname === "pages.example.com" ? [{ address: "127.0.0.1", family: 4 }] : [{ address: "10.0.0.1", family: 4 }],
      ),
    isAllowed: (address) => address === "127.0.0.1",
  });
  before(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: inner, title: The inside, url: "${url}", retries: 0 }`),
        "manifests/fetch.yaml": FETCH,
        "manifests/shot.yaml": SHOT,
        "manifests/nested.yaml": NESTED,
        "schemas/Page.json": JSON.stringify(PAGE),
      }),
      web,
    });
  });
  after(async () => {
    await shop.close();
    await web.close();
    await removeDirectories();
  });
  const buy = async (url: string): Promise<[number, Loose]> => {
    const response = await shop.buy("/v1/fetch", { url });
    return [response.status, (await response.json()) as Loose];
  };

  it("is fetched where it is public, with no credential and nothing of the caller", async () => {
    shop.source.script('{"ok":true}');
    const { port } = new URL(shop.source.url);
    expect(await buy(`http://pages.example.com:${port}/a?b=c`)).to.deep.equal([200, { ok: true }]);
    const { path, headers } = shop.source.asked.at(-1) as Asked;
    expect(path).to.equal("/a?b=c");
    expect(headers).to.include({ "accept-language": "en", accept: "application/json" });
    expect(Object.keys(headers)).to.not.include.members(["authorization", "cookie", "payment-signature"]);
  });

  for (const inside of [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://localhost/",
    "http://db/",
    "http://a.internal/",
    "ftp://pages.example.com/",
    "file:///etc/passwd",
    "http://a:b@pages.example.com/",
    "no address",
  ])
    it(`is refused unpaid, here and for an upstream: ${inside}`, async () => {
      const [asked, paid] = [shop.source.asked.length, shop.rail.moved.size];
      expect((await buy(inside))[0]).to.equal(422);
      expect((await shop.buy("/v1/shot", { text: inside })).status).to.equal(422);
      const deep = { pages: [{ link: "https://pages.example.com/a", more: [{ link: inside }] }] };
      expect((await shop.buy("/v1/nested", deep)).status).to.equal(422);
      expect([shop.source.asked.length, shop.rail.moved.size]).to.deep.equal([asked, paid]);
    });

  it("is not fetched when its name leads to the inside, and nothing is charged", async () => {
    const paid = shop.rail.moved.size;
    const [status, { code }] = await buy("http://rebind.example.com/");
    expect([status, code, shop.rail.moved.size]).to.deep.equal([400, "bad-request", paid]);
  });

  it("is not followed to the inside", async () => {
    shop.source.script({ status: 302, headers: { location: "http://10.0.0.1/latest" } });
    const { port } = new URL(shop.source.url);
    const paid = shop.rail.moved.size;
    const [status] = await buy(`http://pages.example.com:${port}/a`);
    expect([status, shop.rail.moved.size]).to.deep.equal([400, paid]);
  });
});

describe("an upstream that is hostile", () => {
  let shop: ProxyShop;
  beforeEach(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(
          `{ id: inner, title: The inside, url: "${url}", retries: 1, timeout_seconds: 0.5, key: { variable: INNER_KEY, header: x-key } }`,
        ),
        "manifests/in_query.yaml": toManifest(
          "in_query",
          "GET /v1",
          '  query: { text: "{text}" }\n  answer: { max_bytes: 65536 }\n',
        ),
        "manifests/in_body.yaml": toManifest("in_body", "POST /v1", "  body: input\n"),
      }),
      env: { INNER_KEY: KEY },
    });
  });
  afterEach(async () => {
    await shop.close();
    await removeDirectories();
  });

  const flood: Line = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const chunk = Buffer.alloc(65_536, " ");
    const pour = (): void => {
      while (!response.destroyed && response.write(chunk));
      if (!response.destroyed) response.once("drain", pour);
    };
    pour();
  };
  const drip: Line = (response) => {
    response.writeHead(200, { "content-type": "application/json" });
    const timer = setInterval(() => response.write(" "), 100);
    response.once("close", () => clearInterval(timer));
  };
  const hostile: readonly [what: string, line: Line][] = [
    ["redirects to another place inside", { status: 307, headers: { location: "http://127.0.0.1:9/admin" } }],
    ["redirects to another protocol", { status: 301, headers: { location: "https://127.0.0.1/" } }],
    ["redirects for ever", { status: 302, headers: { location: "/v1" } }],
    ["promises more than it sends", { headers: { "content-length": "500" }, body: '{"ok":true}' }],
    ["sends without end", flood],
    ["sends a drop at a time", drip],
    ["never answers", hangs],
    ["sends a bomb", { headers: { "content-encoding": "gzip" }, body: gzipSync(Buffer.alloc(1_000_000, " ")) }],
    ["sends what is not compressed as it says", { headers: { "content-encoding": "br" }, body: '{"ok":true}' }],
    ["answers with another type", { headers: { "content-type": "text/html" }, body: '{"ok":true}' }],
    ["answers with a prototype", '{"__proto__":{"ok":true}}'],
  ];
  for (const [what, line] of hostile)
    it(`costs nobody anything when it ${what}`, async () => {
      shop.source.script(line);
      const response = await shop.buy("/v1/in_query", { text: "a" });
      expect(response.status).to.equal(502);
      expect([(await response.text()) + shop.output(), shop.rail.moved.size]).to.satisfy(
        ([shown, moved]: [string, number]) => !shown.includes(KEY) && moved === 0,
      );
    });

  it("is asked once for what may change something, and again for a question", async () => {
    shop.source.script(500, '{"ok":true}');
    expect((await shop.buy("/v1/in_body", { text: "a" })).status).to.equal(502);
    expect(shop.source.asked.length).to.equal(1);
    shop.source.script(500, '{"ok":true}');
    expect((await shop.buy("/v1/in_query", { text: "a" })).status).to.equal(200);
    expect([shop.source.asked.length, shop.rail.moved.size]).to.deep.equal([3, 1]);
  });

  it("does not change a paid answer by changing its mind", async () => {
    shop.source.script('{"ok":true}', '{"ok":false}');
    const challenge = (await (await shop.call("/v1/in_query", { text: "a" })).json()) as Loose;
    const payment = Buffer.from(JSON.stringify(shop.pay(challenge))).toString("base64");
    const send = (): Promise<Response> => shop.call("/v1/in_query", { text: "a" }, { "payment-signature": payment });
    const answers = [await (await send()).json(), await (await send()).json()];
    expect(answers).to.deep.equal([{ ok: true }, { ok: true }]);
    expect([shop.source.asked.length, shop.rail.moved.size]).to.deep.equal([1, 1]);
  });

  it("serves a redirect within itself, and keeps the credential there", async () => {
    shop.source.script({ status: 302, headers: { location: "/v2" } }, '{"ok":true}');
    expect((await shop.buy("/v1/in_query", { text: "a" })).status).to.equal(200);
    expect(shop.source.asked.map(({ path }) => path)).to.deep.equal(["/v1?text=a", "/v2"]);
  });
});
