import { text } from "node:stream/consumers";
import { expect } from "chai";
import type { Problem } from "../../runtime/api/problem.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { createHttpTransport, type Transport, type WireRequest } from "../../runtime/drivers/upstream/transport.ts";
import { createUpstream } from "../../runtime/drivers/upstream/upstream.ts";
import { closeServer, createRpcServer, listenOnLoopback } from "../../runtime/sandbox/json-rpc.ts";
import type {
  RecordedExchange,
  RecordedRequest,
  RecordedResponse,
  Recording,
} from "../../runtime/sandbox/recordings/recordings.ts";
import { createRecordedTransport, toRecordedFetch } from "../../runtime/sandbox/recordings/transport.ts";

const GECKO = "https://api.coingecko.test/api/v3";
const NODE = "https://node.test/v2/project?tier=free";
const baseUrls = new Map([
  ["coingecko", GECKO],
  ["base", NODE],
]);
const remedy = "ask somebody else";
const titles = new Map([
  ["coingecko", "CoinGecko"],
  ["base", "Base node"],
]);

const toExchange = (request: RecordedRequest, response: RecordedResponse, name = "success"): RecordedExchange => ({
  case: name,
  request,
  response,
});

const get = (path: string): RecordedRequest => ({ method: "GET", path });
const rpc = (method: string, ...params: unknown[]): RecordedRequest => ({ rpc: { method, params } });

function toRecording(upstream: string, exchanges: readonly RecordedExchange[]): Recording {
  return { file: `plugins/p/recordings/${upstream}/a.json`, upstream, source: "a test", exchanges };
}

function open(upstream: string, ...exchanges: readonly RecordedExchange[]): Transport {
  return createRecordedTransport({ recordings: [toRecording(upstream, exchanges)], baseUrls, titles, remedy });
}

function toRequest(url: string, more: Partial<WireRequest> = {}): WireRequest {
  return {
    upstream: "coingecko",
    method: "GET",
    url: new URL(url),
    headers: {},
    signal: AbortSignal.timeout(10_000),
    ...more,
  };
}

const post = (url: string, body: unknown, upstream = "coingecko"): WireRequest =>
  toRequest(url, { upstream, method: "POST", body: JSON.stringify(body) });

const call = (method: string, params: unknown, id: unknown = 1): WireRequest =>
  post(NODE, { jsonrpc: "2.0", id, method, params }, "base");

/** The body of an answer. */
const ask = async (transport: Transport, request: WireRequest): Promise<string> =>
  text((await transport(request)).body as AsyncIterable<Buffer>);

const problemOf = (work: Promise<unknown>): Promise<Problem> =>
  work.then(
    () => expect.fail("nothing was thrown"),
    (error: Problem) => error,
  );

describe("a recorded upstream", () => {
  it("answers with the recorded status, headers and body", async () => {
    const response = { status: 404, headers: { "x-limit": "30" }, json: { error: "coin not found" } };
    const { status, headers, body } = await open(
      "coingecko",
      toExchange(get("/coins/x"), response, "empty"),
    )(toRequest(`${GECKO}/coins/x`));
    expect(status).to.equal(404);
    expect(headers.get("X-Limit")).to.equal("30");
    expect(headers.get("content-type")).to.equal("application/json");
    expect(headers.get("retry-after")).to.equal(null);
    expect(await text(body as AsyncIterable<Buffer>)).to.equal('{"error":"coin not found"}');
  });

  it("answers texts and files as they are, under no type of its own", async () => {
    const transport = open("coingecko", toExchange(get("/text"), { text: "" }), {
      ...toExchange(get("/file"), { file: "a.xml", headers: { "content-type": "text/xml" } }),
      content: Buffer.from("<a/>"),
    });
    const empty = await transport(toRequest(`${GECKO}/text`));
    expect([empty.headers.get("content-type"), await text(empty.body as AsyncIterable<Buffer>)]).to.deep.equal([
      null,
      "",
    ]);
    const file = await transport(toRequest(`${GECKO}/file`));
    expect([file.headers.get("content-type"), await text(file.body as AsyncIterable<Buffer>)]).to.deep.equal([
      "text/xml",
      "<a/>",
    ]);
  });

  it("knows a request whatever the order and the spelling of its query", async () => {
    const transport = open("coingecko", toExchange(get("/price?ids=a,b&vs=usd"), { text: "yes" }));
    expect(await ask(transport, toRequest(`${GECKO}/price?vs=usd&ids=a%2Cb`))).to.equal("yes");
  });

  for (const path of ["/price?ids=a", "/price?ids=a&vs=usd&x=1", "/price?ids=b&vs=usd", "/prices?ids=a&vs=usd", ""])
    it(`does not take ${path || "its URL itself"} for another path or query`, async () => {
      const transport = open("coingecko", toExchange(get("/price?ids=a&vs=usd"), { text: "yes" }));
      expect((await problemOf(transport(toRequest(GECKO + path)))).code).to.equal("upstream-failed");
    });

  it("does not take a GET for a POST, nor one upstream for another", async () => {
    const transport = open("coingecko", toExchange({ method: "POST", path: "/x" }, { text: "yes" }));
    expect((await problemOf(transport(toRequest(`${GECKO}/x`)))).code).to.equal("upstream-failed");
    expect(await ask(transport, post(`${GECKO}/x`, {}))).to.equal("yes");
    expect((await problemOf(transport({ ...post(`${GECKO}/x`, {}), upstream: "other" }))).code).to.equal(
      "upstream-failed",
    );
  });

  it("finds its own URL, with and without a slash, and leaves the query of that out", async () => {
    const files = createRecordedTransport({
      recordings: [toRecording("ofac", [toExchange(get(""), { text: "list" })])],
      baseUrls: new Map([["ofac", "https://ofac.test/?key=abc"]]),
      titles,
      remedy,
    });
    expect(await ask(files, toRequest("https://ofac.test?key=abc", { upstream: "ofac" }))).to.equal("list");
    expect(
      await ask(open("base", toExchange(rpc("eth_chainId"), { result: "0x1" })), call("eth_chainId", [])),
    ).to.include("0x1");
  });

  it("is not found at another origin, or above its URL", async () => {
    const transport = open("coingecko", toExchange(get("/x"), { text: "yes" }), toExchange(rpc("ping"), { result: 1 }));
    for (const url of [
      "https://other.test/api/v3/x",
      "http://api.coingecko.test/api/v3/x",
      "https://api.coingecko.test/x/",
    ])
      expect((await problemOf(transport(toRequest(url)))).code).to.equal("upstream-failed");
    const ping = { jsonrpc: "2.0", id: 1, method: "ping" };
    expect(await ask(transport, post(GECKO, ping))).to.include('"result":1');
    expect((await problemOf(transport(post(`${GECKO}/x`, ping)))).code).to.equal("upstream-failed");
  });

  it("answers with good days only, and with the first exchange that fits", async () => {
    const request = get("/price");
    const cases = ["error", "rate-limit", "slow", "malformed", "success:first", "success:second", "empty"];
    const transport = open("coingecko", ...cases.map((name) => toExchange(request, { text: name }, name)));
    expect(await ask(transport, toRequest(`${GECKO}/price`))).to.equal("success:first");
    const two = createRecordedTransport({
      recordings: ["one", "two"].map((name) => toRecording("coingecko", [toExchange(request, { text: name })])),
      baseUrls,
      titles,
      remedy,
    });
    expect(await ask(two, toRequest(`${GECKO}/price`))).to.equal("one");
  });

  it("takes as long as is recorded, and no longer than the caller waits", async () => {
    const transport = open(
      "coingecko",
      toExchange(get("/soon"), { text: "done", delay_ms: 5 }),
      toExchange(get("/late"), { text: "done", delay_ms: 600_000 }),
    );
    expect(await ask(transport, toRequest(`${GECKO}/soon`))).to.equal("done");
    const reason = new Error("the caller has gone");
    const caller = new AbortController();
    const late = transport(toRequest(`${GECKO}/late`, { signal: caller.signal }));
    caller.abort(reason);
    expect(await problemOf(late)).to.equal(reason);
    expect(await problemOf(transport(toRequest(`${GECKO}/soon`, { signal: caller.signal })))).to.equal(reason);
  });
});

describe("a recorded POST", () => {
  const body = { model: "m", messages: [{ role: "user", content: "hi" }], n: null };
  const transport = open("coingecko", toExchange({ method: "POST", path: "/chat", body }, { text: "yes" }));
  const sent = { temperature: 0, model: "m", n: null };
  const [system, user] = [
    { role: "system", content: "be short" },
    { role: "user", content: "hi", name: "x" },
  ];

  it("is found when the sent body has all of the recorded one, and more", async () => {
    for (const messages of [[user], [system, user], [user, system], [system, user, system]])
      expect(await ask(transport, post(`${GECKO}/chat`, { ...sent, messages }))).to.equal("yes");
  });

  const others: readonly [string, unknown][] = [
    ["lacks a key", { messages: [user], n: null }],
    ["has another value", { ...sent, model: "other", messages: [user] }],
    ["lacks an element", { ...sent, messages: [system] }],
    ["has no list where one is recorded", { ...sent, messages: user }],
    ["lacks a null", { model: "m", temperature: 0, messages: [user] }],
    ["has something for null", { ...sent, n: 0, messages: [user] }],
    ["is a list", [sent]],
    ["is null", null],
  ];
  for (const [what, other] of others)
    it(`is not found when the sent body ${what}`, async () => {
      expect((await problemOf(transport(post(`${GECKO}/chat`, other)))).code).to.equal("upstream-failed");
    });

  it("is not found when the sent body is no JSON", async () => {
    const broken = toRequest(`${GECKO}/chat`, { method: "POST", body: "{" });
    expect((await problemOf(transport(broken))).code).to.equal("upstream-failed");
  });

  it("has the elements of lists in their order", async () => {
    const ordered = open("coingecko", toExchange({ method: "POST", path: "/x", body: [1, 2, 2] }, { text: "yes" }));
    expect(await ask(ordered, post(`${GECKO}/x`, [0, 1, 2, 1, 2]))).to.equal("yes");
    expect((await problemOf(ordered(post(`${GECKO}/x`, [2, 1, 2])))).code).to.equal("upstream-failed");
  });
});

describe("a recorded node", () => {
  const transport = open(
    "base",
    toExchange(rpc("eth_getBalance", "0xAb", "latest"), { result: "0x0" }),
    toExchange(rpc("eth_getTransactionReceipt", "0x1"), { result: null }, "empty"),
    toExchange(rpc("eth_call", { to: "0x1", data: "0x" }), {
      rpc_error: { code: 3, message: "reverted", data: "0x08" },
    }),
    toExchange(rpc("eth_blockNumber"), { result: "0x10" }),
    toExchange(rpc("eth_syncing"), { text: "<html>", status: 200 }),
  );

  it("answers with the id of the call, and its result or error, null included", async () => {
    for (const id of [7, "seven", null])
      expect(JSON.parse(await ask(transport, call("eth_getTransactionReceipt", ["0x1"], id)))).to.deep.equal({
        jsonrpc: "2.0",
        id,
        result: null,
      });
    expect(JSON.parse(await ask(transport, call("eth_call", [{ data: "0x", to: "0x1" }])))).to.deep.equal({
      jsonrpc: "2.0",
      id: 1,
      error: { code: 3, message: "reverted", data: "0x08" },
    });
    expect(JSON.parse(await ask(transport, call("eth_blockNumber", undefined)))).to.have.property("result", "0x10");
    expect(await ask(transport, call("eth_syncing", []))).to.equal("<html>");
  });

  it("knows a call by exactly its parameters", async () => {
    expect(await ask(transport, call("eth_getBalance", ["0xAb", "latest"]))).to.include("0x0");
    for (const params of [["0xab", "latest"], ["0xAb"], ["0xAb", "latest", {}], { 0: "0xAb", 1: "latest" }])
      expect((await problemOf(transport(call("eth_getBalance", params)))).code).to.equal("upstream-failed");
  });

  it("is not asked by what is no JSON-RPC 2.0", async () => {
    const body = { method: "eth_blockNumber", params: [] };
    expect((await problemOf(transport(post(NODE, body, "base")))).message).to.include("for POST /:");
  });
});

describe("a request that nothing fits", () => {
  it("is refused with what is missing and what can be done", async () => {
    const transport = open("coingecko");
    const { code, message } = await problemOf(transport(toRequest(`${GECKO}/simple/price?ids=dogecoin`)));
    expect(code).to.equal("upstream-failed");
    expect(message).to.equal(
      "The sandbox works offline and has no recording of CoinGecko for GET /simple/price?ids=dogecoin: " +
        "it answers the inputs of the manifests' examples. For any other input, ask somebody else.",
    );
  });

  it("reaches a plugin as it is, asked once, and does not keep it from what is recorded", async () => {
    let sent = 0;
    const recorded = open("coingecko", toExchange(get("/price?ids=a"), { json: { a: 1 } }));
    const transport: Transport = (request) => {
      sent += 1;
      return recorded(request);
    };
    const terms = { headers: {}, timeoutMs: 5000, retries: 2, clock: { now: Date.now }, log: silentLog };
    const upstream = createUpstream({ id: "coingecko", title: "CoinGecko", url: GECKO, transport, ...terms });
    const { signal } = new AbortController();
    for (let times = 0; times < 10; times++) {
      const { code, message } = await problemOf(upstream.get("/price", { signal, query: { ids: "b" } }));
      expect([code, message.includes("GET /price?ids=b")]).to.deep.equal(["upstream-failed", true]);
    }
    expect(sent).to.equal(10);
    expect((await upstream.get("/price", { signal, query: { ids: "a" } })).json()).to.deep.equal({ a: 1 });
  });

  it("is named by its beginning, and a call by its method: bodies are not repeated", async () => {
    const long = await problemOf(open("coingecko")(toRequest(`${GECKO}/${"x".repeat(500)}`)));
    expect(long.message).to.include(`GET /${"x".repeat(75)}…: it answers`);
    const secret = await problemOf(open("base")(call("eth_call", [{ data: "0x5ec2e7" }])));
    expect(secret.message).to.include("of Base node for eth_call: it").and.not.include("0x5ec2e7");
  });

  it("is asked of a chain where there is one, recordings first", async () => {
    const server = createRpcServer({ eth_blockNumber: () => "0x2a", eth_chainId: () => "0x1" });
    const url = await listenOnLoopback(server);
    const http = createHttpTransport();
    try {
      const transport = createRecordedTransport({
        recordings: [toRecording("base", [toExchange(rpc("eth_chainId"), { result: "0x2105" })])],
        titles,
        remedy,
        baseUrls: new Map([["base", url]]),
        fallback: (request) => (request.upstream === "base" ? http.send(request) : undefined),
      });
      const at = (method: string): WireRequest => ({ ...call(method, []), url: new URL(url) });
      expect(await ask(transport, at("eth_chainId"))).to.include("0x2105");
      expect(await ask(transport, at("eth_blockNumber"))).to.include("0x2a");
      expect((await problemOf(transport(toRequest(`${GECKO}/ping`)))).code).to.equal("upstream-failed");
    } finally {
      await http.close();
      await closeServer(server);
    }
  });
});

describe("a fetch over recordings", () => {
  const response = { json: { choices: [] }, status: 201 };
  const chat = toExchange({ method: "POST", path: "/chat", body: { model: "m" } }, response);
  const recorded = toRecordedFetch("coingecko", open("coingecko", chat));

  it("answers what a client sends by its own means", async () => {
    const answer = await recorded(`${GECKO}/chat`, { method: "POST", body: '{"model":"m"}' });
    expect(answer.status).to.equal(201);
    expect(answer.headers.get("content-type")).to.equal("application/json");
    expect(await answer.json()).to.deep.equal({ choices: [] });
  });

  it("gives an answer without a type the type of bytes", async () => {
    const plain = toRecordedFetch("coingecko", open("coingecko", toExchange(get("/x"), { text: "yes" })));
    expect((await plain(`${GECKO}/x`)).headers.get("content-type")).to.equal("application/octet-stream");
  });

  it("rejects what is not recorded", async () => {
    expect((await problemOf(recorded(new Request(`${GECKO}/models`)))).message).to.include("GET /models");
  });
});
