import type { ServerResponse } from "node:http";
import { expect } from "chai";
import { openProxyShop, type ProxyShop } from "../../support/sellers/proxy-shop.ts";
import { siteOf } from "../../support/sellers/site-of.ts";
import type { Line } from "../../support/sources/scripted-source.ts";

const CHAT = `id: chat
title: Chat
description: Passes a prompt on, and the events of the answer back.
route: POST /v1/chat
price: "0.002"
proxy: { upstream: model, request: POST /chat, body: input }
input: { type: object, properties: { prompt: { type: string } }, required: [prompt] }
output:
  type: object
  properties: { events: { type: array, items: {} }, lines: { type: array, items: {} } }
tags: []
examples:
  - input: { prompt: hello }
`;

/** What `manifests/README.md` advises against events that report failures, and ends without an end. */
const STRICT = CHAT.replaceAll("chat", "strict").replace(
  "events: { type: array, items: {} }",
  "events: { type: array, items: { type: object, not: { required: [error] } }, contains: { type: object, required: [usage] } }",
);

/** Events that are texts. */
const TOKENS = CHAT.replaceAll("chat", "tokens").replace("items: {}", "items: { type: string }");

const EVENTS = "text/event-stream; charset=utf-8";
const LINES = "application/x-ndjson";

/** An answer without a length, which ends where the connection is closed. */
const unmeasured = (type: string, text: string): Line => ({
  headers: { "content-type": type, "transfer-encoding": "identity", connection: "close" },
  body: text,
});

/** An answer in chunks of one byte each. */
const inBytes =
  (type: string, text: string): Line =>
  (response: ServerResponse) => {
    response.writeHead(200, { "content-type": type });
    for (const byte of Buffer.from(text)) response.write(Buffer.of(byte));
    response.end();
  };

/** An answer whose connection breaks after whole events. */
const broken =
  (type: string, text: string): Line =>
  (response: ServerResponse) => {
    response.writeHead(200, { "content-type": type }).write(text, () => response.socket?.destroy());
  };

describe("a proxied service whose upstream streams", () => {
  let shop: ProxyShop;
  beforeEach(async () => {
    const model = (url: string): string =>
      `{ id: model, title: The model, url: "${url}", retries: 0, timeout_seconds: 5 }`;
    shop = await openProxyShop({
      files: (url) => ({
        "manifests/_site.yaml": siteOf(model(url)),
        "manifests/chat.yaml": CHAT,
        "manifests/strict.yaml": STRICT,
        "manifests/tokens.yaml": TOKENS,
      }),
    });
  });
  afterEach(() => shop.close());

  const sold: readonly [what: string, line: Line, answer: object][] = [
    [
      "texts with line separators of Unicode",
      unmeasured(EVENTS, 'data: {"text":"one\u2028two"}\n\ndata: three\u2029four\n\ndata: [DONE]\n\n'),
      { events: [{ text: "one\u2028two" }, "three\u2029four"] },
    ],
    [
      "events that come byte by byte",
      inBytes(EVENTS, '\ufeff: hi\r\n\r\ndata: {"text":"\u00e9\u{1f600}"}\r\n\r\nid: 2\r\ndata:\u6587\r\n\r\n'),
      { events: [{ text: "\u00e9\u{1f600}" }, "\u6587"] },
    ],
    [
      "events with an error beside other data, or before others",
      unmeasured(EVENTS, 'data: {"error":"busy"}\n\ndata: {"n":1,"error":{"code":503}}\n\ndata: {"error":null}\n\n'),
      { events: [{ error: "busy" }, { n: 1, error: { code: 503 } }, { error: null }] },
    ],
    [
      "lines of JSON with tabs and control characters",
      inBytes(LINES, '{\t"text": "\u0085"}\n{"text": "\u007f"}\n'),
      { lines: [{ text: "\u0085" }, { text: "\u007f" }] },
    ],
  ];
  for (const [what, line, answer] of sold)
    it(`sells ${what} unchanged`, async () => {
      shop.source.script(line);
      const response = await shop.buy("/v1/chat", { prompt: "hello" });
      expect([response.status, await response.json()]).to.deep.equal([200, answer]);
      expect(shop.rail.moved.size).to.equal(1);
    });

  it("sells words as texts where the schema says so, also those that are values of JSON", async () => {
    shop.source.script(unmeasured(EVENTS, "data: it is\n\ndata: true\n\ndata: null\n\ndata: 4.50\n\n"));
    const response = await shop.buy("/v1/tokens", { prompt: "hello" });
    expect(await response.json()).to.deep.equal({ events: ["it is", "true", "null", "4.50"] });
  });

  const failures: readonly [what: string, line: Line][] = [
    ["breaks off within an event", unmeasured(EVENTS, 'data: {"n":1}\n\ndata: {"n":')],
    ["breaks off between the lines of an event", unmeasured(EVENTS, "data: one\n\ndata: the first half\n")],
    ["breaks off within a line of JSON", unmeasured(LINES, '{"n":1}\n{"n":')],
    ["has no event", unmeasured(EVENTS, "")],
    ["has an event of the type error", unmeasured(EVENTS, 'data: {"n":1}\n\nevent: error\ndata: overloaded\n\n')],
    [
      "ends with an error alone",
      unmeasured(EVENTS, 'data: {"n":1}\n\ndata: {"error":{"code":503}}\n\ndata: [DONE]\n\n'),
    ],
    ["loses its connection between events", broken(EVENTS, 'data: {"n":1}\n\n')],
  ];
  for (const [what, line] of failures)
    it(`charges nothing when the stream ${what}`, async () => {
      shop.source.script(line);
      const response = await shop.buy("/v1/chat", { prompt: "hello" });
      expect([response.status, ((await response.json()) as { code: string }).code]).to.deep.equal([
        502,
        "upstream-failed",
      ]);
      expect(shop.rail.moved.size).to.equal(0);
    });

  const ends: readonly [what: string, event: object, status: number][] = [
    ["ends as it should", { usage: 3 }, 200],
    ["reports a failure", { error: { message: "overloaded" }, usage: 3 }, 502],
    ["ends without its end", { n: 2 }, 502],
  ];
  for (const [what, event, status] of ends)
    it(`${status === 200 ? "sells" : "charges nothing for"} a stream that ${what}, by its schema`, async () => {
      shop.source.script(unmeasured(EVENTS, `data: {"n":1}\n\ndata: ${JSON.stringify(event)}\n\n`));
      const response = await shop.buy("/v1/strict", { prompt: "hello" });
      expect([response.status, shop.rail.moved.size]).to.deep.equal([status, status === 200 ? 1 : 0]);
    });
});
