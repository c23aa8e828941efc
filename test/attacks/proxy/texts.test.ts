import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Asked } from "../../support/sources/scripted-source.ts";
import { KEY, toFree, toManifest } from "./manifests.ts";

/** Texts that try to be more than a text. */
const TRICKS: readonly string[] = [
  "..",
  ".",
  "...",
  "../",
  "../admin",
  "..%2fadmin",
  "%2e%2e",
  "%2e%2e%2f",
  "..%5c",
  "..\\admin",
  "a/../../admin",
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
  "\r\nx-admin: 1",
  "a\r\n\r\nGET /admin HTTP/1.1",
  "%0d%0ax-admin: 1",
  "\n",
  "\r",
  "a\nb",
  "\u0085",
  "\u2028x-admin: 1",
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
  "@evil.example",
  "evil.example:80",
  "http://evil.example/",
  "//user:pass@evil.example",
  "[::1]",
  "a b",
  " a",
  "a ",
  "\t",
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
  after(() => shop.close());

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
