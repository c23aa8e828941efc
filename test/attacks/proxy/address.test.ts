import { randomBytes } from "node:crypto";
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { expect } from "chai";
import { createGuardedFetch } from "../../../runtime/drivers/http/guarded-fetch.ts";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Asked } from "../../support/sources/scripted-source.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";
import { toManifest } from "./manifests.ts";

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
const FILE = FETCH.replaceAll("fetch", "file").replace(/(?<=output: ).*/, "{ media: application/zip }");
const SHOT = toManifest("shot", "GET /shot", '  query: { page: "{text}" }\n')
  .replace("{ type: string }", "{ type: string, format: uri }")
  .replace("plain", "https://pages.example.com/a");
const NESTED = toManifest("nested", "POST /shots", "  body: input\n")
  .replace("{ text: { type: string } }, required: [text]", "{ pages: { type: array, items: { $ref: Page.json } } }")
  .replace("text: plain", 'pages: [{ link: "https://pages.example.com/a" }]');
/** A field for each way in which a schema may say of a value that it is an address. */
const KEYWORDS = `
  type: object
  properties:
    pair: { type: array, prefixItems: [{ $ref: "#/$defs/link" }], items: false, minItems: 1, maxItems: 1 }
    some: { type: array, items: { type: string }, contains: { $ref: "#/$defs/link" } }
    rest: { type: array, unevaluatedItems: { $ref: "#/$defs/link" } }
    named: { type: object, propertyNames: { format: uri }, additionalProperties: true }
    open: { type: object, unevaluatedProperties: { $ref: "#/$defs/link" } }
    matched: { type: object, properties: { xy: {} }, patternProperties: { "^x": { $ref: "#/$defs/link" } } }
    long: { type: string, if: { minLength: 5 }, then: { format: uri } }
    short: { type: string, if: { maxLength: 4 }, else: { format: uri } }
    asked:
      type: object
      properties: { a: { type: integer }, b: { type: string } }
      dependentSchemas: { a: { type: object, properties: { b: { $ref: "#/$defs/link" } } } }
    other: { type: string, format: url }
    either: { anyOf: [{ $ref: "#/$defs/link" }, { type: string, maxLength: 20 }] }
  $defs: { link: { type: string, format: uri } }`;
const INSIDE = "http://127.0.0.1/";
const HIDDEN: readonly object[] = [
  { pair: [INSIDE] },
  { some: ["https://pages.example.com/", INSIDE] },
  { rest: [INSIDE] },
  { named: { [INSIDE]: 1 } },
  { open: { a: INSIDE } },
  { matched: { x: INSIDE } },
  { matched: { xy: INSIDE } },
  { long: INSIDE },
  { short: INSIDE },
  { asked: { a: 1, b: INSIDE } },
  { other: "http://metadata.google.internal/" },
  { either: INSIDE },
  { either: "//127.0.0.1/" },
  { either: "127.0.0.1/admin" },
  ...[" ", "\u3000", "\0\n"].map((space) => ({ either: space + INSIDE })),
  { either: INSIDE.replace("ttp", "t\ttp") },
];
const WORDS = toManifest("words", "POST /words", "  body: input\n")
  .replace(/(?<=input: ).*/, () => KEYWORDS)
  .replace("text: plain", "either: none");
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
        "manifests/file.yaml": FILE,
        "manifests/shot.yaml": SHOT,
        "manifests/nested.yaml": NESTED,
        "manifests/words.yaml": WORDS,
        "schemas/Page.json": JSON.stringify(PAGE),
      }),
      web,
    });
  });
  after(async () => {
    await shop.close();
    await web.close();
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

  for (const [coding, compress] of [
    ["gzip", gzipSync],
    ["deflate", deflateSync],
    ["br", brotliCompressSync],
    ["zstd", zstdCompressSync],
  ] as const)
    it(`sells what was compressed whole, and not its beginning: ${coding}`, async () => {
      const whole = Buffer.concat([Buffer.from("504b0304", "hex"), randomBytes(2000)]);
      const headers = { "content-type": "application/zip", "content-encoding": coding };
      const sent = compress(whole);
      shop.source.script({ headers, body: sent }, { headers, body: sent.subarray(0, 1000) });
      const input = { url: `http://pages.example.com:${new URL(shop.source.url).port}/a.zip` };
      const sold = await shop.buy("/v1/file", input);
      expect(Buffer.from(await sold.arrayBuffer())).to.deep.equal(whole);
      const paid = shop.rail.moved.size;
      expect([(await shop.buy("/v1/file", input)).status, shop.rail.moved.size]).to.deep.equal([502, paid]);
    });

  for (const inside of [
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.1/",
    "http://[::1]/",
    "http://[::ffff:10.0.0.1]/",
    "http://169.254.169.254/latest/meta-data",
    "http://localhost/",
    "http://localhost./",
    "http://localhost.localdomain/",
    "http://db/",
    "http://db.:5432/",
    "http://a.internal/",
    "http://a.internal./",
    "http://kubernetes.default.svc/",
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

  for (const input of HIDDEN)
    it(`is refused unpaid by whichever keyword the schema declares it: ${JSON.stringify(input)}`, async () => {
      const [asked, paid] = [shop.source.asked.length, shop.rail.moved.size];
      const response = await shop.buy("/v1/words", input);
      expect([response.status, await response.text()].join()).to.match(
        /^422,.*this must be a (?:public address|whole http or https URL)/,
      );
      expect([shop.source.asked.length, shop.rail.moved.size]).to.deep.equal([asked, paid]);
    });

  it("is not looked for in a word that the schema allows beside addresses", async () => {
    shop.source.script('{"ok":true}');
    for (const either of ["none", "none\nor a.few"])
      expect((await shop.buy("/v1/words", { either })).status).to.equal(200);
  });

  it("may be a name that leads nowhere, such as those of SCIM, but not where it is fetched", async () => {
    shop.source.script('{"ok":true}');
    const name = "urn:ietf:params:scim:api:messages:2.0:PatchOp";
    expect((await shop.buy("/v1/nested", { pages: [{ link: name }] })).status).to.equal(200);
    expect(JSON.parse(shop.source.asked.at(-1)?.body ?? "")).to.deep.equal({ pages: [{ link: name }] });
    expect((await buy(name))[0]).to.equal(422);
    const read = "urn:name:password@127.0.0.1/"; // As by a source that puts http:// before what lacks it.
    for (const link of [read, "urn:pass@127.0.0.1/"])
      expect((await shop.buy("/v1/nested", { pages: [{ link }] })).status).to.equal(422);
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
