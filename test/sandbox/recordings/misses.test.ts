import { expect } from "chai";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { createHttpTransport, type Transport, type WireRequest } from "../../../runtime/drivers/upstream/transport.ts";
import { createUpstream } from "../../../runtime/drivers/upstream/upstream.ts";
import { closeServer, createRpcServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { createRecordedTransport } from "../../../runtime/sandbox/recordings/transport.ts";
import { problemOf } from "../../support/thrown.ts";
import { ask, call, GECKO, get, open, remedy, rpc, titles, toExchange, toRecording, toRequest } from "./stage.ts";

describe("a request that nothing fits", () => {
  it("is refused with what is missing and what can be done", async () => {
    const transport = open("coingecko");
    const { code, message } = await problemOf(transport(toRequest(`${GECKO}/simple/price?ids=dogecoin`)));
    expect(code).to.equal("upstream-failed");
    expect(message).to.equal(
      "The sandbox works offline and has no recording of CoinGecko for GET /simple/price?ids=dogecoin: " +
        "it answers the manifests' examples, once they are recorded (payphone record --new <service>). For any other input, ask somebody else.",
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
