import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Line } from "../../support/sources/scripted-source.ts";
import { CLIENTS } from "../../surfaces/a2a/served/support/clients.ts";
import { CONFIGURATIONS } from "../../surfaces/mcp/served/support/clients.ts";
import type { Loose } from "../../surfaces/mcp/served/support/stall.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452", "hex");
const PDF = Buffer.from("%PDF-1.7 of nothing");

const PICTURE = `id: picture
title: Picture
description: Draws a word.
route: POST /v1/picture
aliases: [GET /v1/picture]
price: "0.002"
proxy:
  upstream: studio
  request: POST /draw
  body: { prompt: "a picture of {word}" }
  cache: { seconds: 60 }
input: { type: object, properties: { word: { type: string } }, required: [word] }
output: { media: "image/*", max_bytes: 1000 }
tags: []
examples:
  - input: { word: apple }
`;
const PAPER = PICTURE.replaceAll("picture", "paper")
  .replace('"image/*"', "application/pdf")
  .replace("  cache: { seconds: 60 }\n", "");

const TEXT = PAPER.replaceAll("paper", "text")
  .replace(
    "{ media: application/pdf, max_bytes: 1000 }",
    "{ type: object, properties: { text: {} }, required: [text] }",
  )
  .replace("input:", "  answer: { wrap: text }\ninput:");

const toKind = (id: string, type: string): string => PAPER.replaceAll("paper", id).replace("application/pdf", type);

const file = (body: Buffer, type: string): Line => ({ headers: { "content-type": type }, body });

describe("a file that an upstream makes", () => {
  let shop: ProxyShop;
  beforeEach(async () => {
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(`{ id: studio, title: The studio, url: "${url}", retries: 0 }`),
        "manifests/picture.yaml": PICTURE,
        "manifests/paper.yaml": PAPER,
        "manifests/json.yaml": toKind("json", "application/geo+json"),
        "manifests/ndjson.yaml": toKind("ndjson", "application/x-ndjson"),
        "manifests/csv.yaml": toKind("csv", "text/csv"),
        "manifests/bytes.yaml": toKind("bytes", "application/octet-stream"),
        "manifests/stream.yaml": toKind("stream", "text/event-stream"),
        "manifests/ranged.yaml": toKind("ranged", "image/png").replace(
          "input:",
          "  headers: { Range: bytes=0-15 }\ninput:",
        ),
        "manifests/partial.yaml": toKind("partial", "image/png").replace("input:", "  charge_on: [206]\ninput:"),
        "manifests/text.yaml": TEXT,
      }),
    });
    shop.source.script(file(PNG, "image/png; charset=binary"));
  });
  afterEach(() => shop.close());

  it("is bytes over REST, says its age, and is the same for the same payment", async () => {
    const challenge = (await (await shop.call("/v1/picture", { word: "apple" })).json()) as Loose;
    expect(challenge.resource.mimeType).to.equal("image/*");
    const payment = Buffer.from(JSON.stringify(shop.pay(challenge))).toString("base64");
    const send = (): Promise<Response> => shop.call("/v1/picture", { word: "apple" }, { "payment-signature": payment });
    for (const response of [await send(), await send()]) {
      expect(response.status).to.equal(200);
      expect([response.headers.get("content-type"), response.headers.get("age")]).to.deep.equal(["image/png", "0"]);
      expect(response.headers.get("access-control-expose-headers"), "for browsers").to.match(/\bage\b/);
      expect(response.headers.get("content-security-policy")).to.contain("default-src 'none'");
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(PNG);
    }
    expect([shop.rail.moved.size, shop.source.asked.length]).to.deep.equal([1, 1]);
    shop.clock.advance(30_000);
    expect((await shop.buy("/v1/picture?word=apple")).headers.get("age")).to.equal("30");
    expect([shop.rail.moved.size, shop.source.asked.length]).to.deep.equal([2, 1]);
  });

  for (const { name, connect } of CONFIGURATIONS)
    it(`is a block of its own over MCP, for the official client ${name}`, async () => {
      const client = await connect(`${shop.url}/mcp`);
      const buy = async (tool: string): Promise<Loose> => {
        const call = { name: tool, arguments: { word: "apple" } };
        const unpaid = await client.callTool(call);
        return client.callTool({ ...call, _meta: { "x402/payment": shop.pay(unpaid._meta["x402/error"]) } });
      };
      try {
        await client.listTools();
        const { content, _meta } = await buy("picture");
        expect(content[0]).to.deep.equal({ type: "image", data: PNG.toString("base64"), mimeType: "image/png" });
        expect(_meta["x402/payment-response"]).to.include({ success: true });
        shop.source.script(file(PDF, "application/pdf"));
        const { resource } = (await buy("paper")).content[0];
        expect(resource).to.include({ mimeType: "application/pdf", blob: PDF.toString("base64") });
        expect(resource.uri).to.match(/^urn:sha256:[0-9a-f]{64}$/);
      } finally {
        await client.close();
      }
    });

  for (const [name, open] of CLIENTS)
    it(`is a file part over A2A, for the official client ${name}`, async () => {
      const client = await open(shop.url);
      const waiting = await client.begin("picture", { word: "apple" });
      const done = await client.pay(waiting, shop.pay(waiting.status.message.metadata["x402.payment.required"]));
      expect(client.state(done)).to.equal("completed");
      const { content, file: sent, mediaType, metadata } = done.artifacts[0].parts[0];
      expect(metadata, "its age").to.deep.equal({ age_seconds: 0 });
      expect(sent?.mimeType ?? mediaType).to.equal("image/png");
      expect(sent ? Buffer.from(sent.bytes, "base64") : Buffer.from(content.value)).to.deep.equal(PNG);
    });

  const wrong: readonly [what: string, line: Line][] = [
    ["a page that is called a picture", file(Buffer.from("<html>"), "image/png")],
    ["a page", file(Buffer.from("<html>"), "text/html")],
    ["another kind of file", file(PDF, "application/pdf")],
    ["a file without a type", { body: PNG }],
    ["an empty file", file(Buffer.alloc(0), "image/png")],
    ["too large a file", file(Buffer.concat([PNG, Buffer.alloc(1000)]), "image/png")],
  ];
  for (const [what, line] of wrong)
    it(`is neither sold nor kept when it is ${what}`, async () => {
      shop.source.script(line, file(PNG, "image/png"));
      expect((await shop.buy("/v1/picture", { word: "apple" })).status).to.equal(502);
      expect(shop.rail.moved.size).to.equal(0);
      expect((await shop.buy("/v1/picture", { word: "apple" })).status).to.equal(200);
    });

  it("is not sold in part, unless a part is asked for", async () => {
    const part = (type: string): Line => ({
      status: 206,
      headers: { "content-type": type, "content-range": "bytes 0-15/90" },
      body: PNG,
    });
    for (const [service, type] of [
      ["picture", "image/png"],
      ["text", "text/plain; charset=latin1"],
    ] as const) {
      shop.source.script(part(type));
      expect((await shop.buy(`/v1/${service}`, { word: "apple" })).status, service).to.equal(502);
    }
    expect(shop.rail.moved.size).to.equal(0);
    shop.source.script(part("image/png"));
    for (const service of ["ranged", "partial"])
      expect((await shop.buy(`/v1/${service}`, { word: "apple" })).status, service).to.equal(200);
    shop.source.script({ status: 206, headers: { "content-type": "application/json" }, body: "[1,2]" });
    expect(await (await shop.buy("/v1/text", { word: "apple" })).json()).to.deep.equal({ text: [1, 2] });
  });

  const texts: readonly [type: string, whole: string, cut: string][] = [
    ["application/geo+json", '{"type":"Point"}', '{"type":"Po'],
    ["application/geo+json; charset=iso-8859-1", '{"type":"\u00e9"}', '{"type":"\u00e9'],
    ["application/x-ndjson", '{"a":1}\n{"a":2}\n', '{"a":1}\n{"a":'],
    ["text/event-stream", "data: one\n\n", "data: one\n\ndata: t"],
  ];
  for (const [type, whole, cut] of texts)
    it(`is sold whole, and not its beginning: ${type}`, async () => {
      const headers = { "content-type": type };
      const toBody = (text: string): Buffer => Buffer.from(text, "latin1");
      shop.source.script({ headers, body: toBody(cut) }, { headers, body: toBody(whole) });
      const [plain = ""] = type.split(";");
      const name = plain.replace(/.*[/+-]/, "");
      expect((await shop.buy(`/v1/${name}`, { word: "apple" })).status).to.equal(502);
      expect(shop.rail.moved.size).to.equal(0);
      const response = await shop.buy(`/v1/${name}`, { word: "apple" });
      expect(response.headers.get("content-type")).to.equal(plain);
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(toBody(whole));
    });

  for (const type of ["application/octet-stream", "binary/octet-stream", "application/x-pdf"])
    it(`is sold as what its bytes show where its API does not say so: ${type}`, async () => {
      shop.source.script(file(PDF, type), file(PNG, type));
      const response = await shop.buy("/v1/paper", { word: "apple" });
      expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, "application/pdf"]);
      expect((await shop.buy("/v1/paper", { word: "other" })).status).to.equal(502);
    });

  for (const type of ["application/octet-stream", "audio/mpeg", "application/zip", "image/png"])
    it(`is sold as bytes of no kind, whatever its API calls it: ${type}`, async () => {
      shop.source.script(file(type.endsWith("zip") ? Buffer.from("504b0304", "hex") : PNG, type));
      const response = await shop.buy("/v1/bytes", { word: "apple" });
      expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, "application/octet-stream"]);
    });

  for (const type of ["application/json", "text/plain", "application/problem+xml", "text/html", ""])
    it(`is not sold as bytes of no kind where it may be an error: ${type}`, async () => {
      shop.source.script(type === "" ? { body: PNG } : file(Buffer.from('{"error":1}'), type));
      expect((await shop.buy("/v1/bytes", { word: "apple" })).status).to.equal(502);
      expect(shop.rail.moved.size).to.equal(0);
    });

  it("keeps the charset of a text that is not UTF-8, without which it cannot be read", async () => {
    const bytes = Buffer.from([0x83, 0x65, 0x83, 0x58, 0x83, 0x67]); // "\u30c6\u30b9\u30c8"
    for (const [said, sold] of [
      ['text/csv; header=present; charset="Shift_JIS"', "text/csv; charset=shift_jis"],
      ["text/csv;charset=UTF-8", "text/csv"],
      ["text/csv", "text/csv"],
    ] as const) {
      shop.source.script(file(bytes, said));
      const response = await shop.buy("/v1/csv", { word: "apple" });
      expect([response.status, response.headers.get("content-type")]).to.deep.equal([200, sold]);
      expect(Buffer.from(await response.arrayBuffer())).to.deep.equal(bytes);
    }
  });
});
