import { text } from "node:stream/consumers";
import { expect } from "chai";
import { createRecordedTransport, toRecordedFetch } from "../../../runtime/sandbox/recordings/transport.ts";
import { problemOf, thrown } from "../../support/thrown.ts";
import {
  ask,
  baseUrls,
  call,
  GECKO,
  get,
  open,
  post,
  remedy,
  rpc,
  titles,
  toExchange,
  toRecording,
  toRequest,
} from "./stage.ts";

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
    expect(await thrown(late)).to.equal(reason);
    expect(await thrown(transport(toRequest(`${GECKO}/soon`, { signal: caller.signal })))).to.equal(reason);
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
