import { gzipSync } from "node:zlib";
import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import { hangs, type Line } from "../../support/sources/scripted-source.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";
import { KEY, toManifest } from "./manifests.ts";

const PATH_KEY = "781234:AAbcDefGhiJklMnoPqr";
const QUERY_KEY = "Zq81x0PpLm";

describe("an upstream that is hostile", () => {
  let shop: ProxyShop;
  beforeEach(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(
          `{ id: inner, title: The inside, url: "${url}", retries: 1, timeout_seconds: 0.5, key: { variable: INNER_KEY, header: x-key } }`,
          "{ id: own, title: One's own, variable: OWN_URL, retries: 0 }",
        ),
        "manifests/in_query.yaml": toManifest(
          "in_query",
          "GET /v1",
          '  query: { text: "{text}" }\n  answer: { max_bytes: 65536 }\n',
        ),
        "manifests/in_body.yaml": toManifest("in_body", "POST /v1", "  body: input\n"),
        "manifests/wrapped.yaml": toManifest(
          "wrapped",
          "GET /v1",
          '  query: { text: "{text}" }\n  answer: { wrap: ok }\n',
        )
          .replace("ok: { type: boolean }", "ok: {}")
          .replace(", required: [ok]", ""),
        "manifests/owned.yaml": toManifest("owned", "GET /v1", '  query: { text: "{text}" }\n')
          .replace("upstream: inner", "upstream: own")
          .replace("boolean", "string"),
      }),
      env: (url) => ({ INNER_KEY: KEY, OWN_URL: `${url}/bot${PATH_KEY}?apikey=${QUERY_KEY}` }),
    });
  });
  afterEach(() => shop.close());

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
    ["answers with another type", { headers: { "content-type": "text/html" }, body: "<p>ok" }],
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

  it("sells no page, and nothing that is not there, as a part of an answer", async () => {
    for (const line of [
      { headers: { "content-type": "text/html" }, body: "<html></html>" },
      { body: "<!doctype html>" },
    ]) {
      shop.source.script(line);
      expect((await shop.buy("/v1/wrapped", { text: "a" })).status).to.equal(502);
    }
    expect(shop.rail.moved.size).to.equal(0);
  });

  it("shows nobody the keys in the operator's own URL", async () => {
    const echoes: readonly ((path: string) => string)[] = [
      (path) => JSON.stringify({ ok: path }),
      (path) => JSON.stringify({ ok: path.replace(/^.*apikey=/, "") }),
      (path) => JSON.stringify({ ok: path.replace(/\?.*$/, "") }),
    ];
    for (const echo of echoes) {
      shop.source.script((response, { path }) => void response.end(echo(path)));
      const response = await shop.buy("/v1/owned", { text: "a" });
      const shown = (await response.text()) + shop.output();
      expect([response.status, shown.includes(PATH_KEY), shown.includes(QUERY_KEY)]).to.deep.equal([502, false, false]);
    }
    expect(shop.rail.moved.size).to.equal(0);
  });

  it("serves a redirect within itself, and keeps the credential there", async () => {
    shop.source.script({ status: 302, headers: { location: "/v2" } }, '{"ok":true}');
    expect((await shop.buy("/v1/in_query", { text: "a" })).status).to.equal(200);
    expect(shop.source.asked.map(({ path }) => path)).to.deep.equal(["/v1?text=a", "/v2"]);
  });
});
