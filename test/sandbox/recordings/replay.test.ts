import { relative } from "node:path";
import { text } from "node:stream/consumers";
import { expect } from "chai";
import {
  createHttpTransport,
  type HttpTransport,
  type WireRequest,
} from "../../../runtime/drivers/upstream/transport.ts";
import { closeServer, createRpcServer, listenOnLoopback } from "../../../runtime/sandbox/json-rpc.ts";
import { makeDirectory, ROOT } from "../../core/set/served-directory.ts";
import { offline, replay, replayAlways } from "../../support/sources/replay.ts";

const GECKO = "https://api.coingecko.test/api/v3";
const PRICES = "plugins/price/recordings/coingecko/prices.json";
const price = { method: "GET", path: "/price?ids=a&vs=usd" };
const EXCHANGES = [
  { case: "success", request: price, response: { json: { usd: 1 } } },
  { case: "success:chat", request: { method: "POST", path: "/chat", body: { n: [1] } }, response: { json: {} } },
  { case: "rate-limit", request: price, response: { status: 429, headers: { "retry-after": "30" }, text: "" } },
  { case: "slow", request: price, response: { delay_ms: 600_000, text: "late" } },
  { case: "empty:block", request: { rpc: { method: "getBlock", params: [1] } }, response: { result: null } },
];

describe("a replayed recording", () => {
  let file: string;
  let http: HttpTransport;

  offline();
  before(async () => {
    const dir = await makeDirectory({ [PRICES]: JSON.stringify({ source: "a test", exchanges: EXCHANGES }) });
    file = relative(ROOT, `${dir}/${PRICES}`);
    http = createHttpTransport();
  });
  after(() => http.close());

  const send = async (path: string, body?: unknown, signal = AbortSignal.timeout(10_000)) => {
    const request: WireRequest = {
      upstream: "coingecko",
      url: new URL(GECKO + path),
      headers: { "x-key": "k" },
      signal,
      ...(body === undefined ? { method: "GET" } : { method: "POST", body: JSON.stringify(body) }),
    };
    const { status, headers, body: answer } = await http.send(request);
    return { status, headers, text: await text(answer as AsyncIterable<Buffer>) };
  };

  it("answers the live transport, and tells what was asked", async () => {
    const recording = replay(GECKO, file, ["success"]);
    expect(await send("/price?vs=usd&ids=a")).to.deep.include({ status: 200, text: '{"usd":1}' });
    expect(await send("/chat", { model: "m", n: [0, 1] })).to.deep.include({ status: 200, text: "{}" });
    expect(recording.asked.map((one) => [one.case, one.headers.get("x-key"), one.body])).to.deep.equal([
      ["success", "k", undefined],
      ["success:chat", "k", { model: "m", n: [0, 1] }],
    ]);
    recording.assertDone();
  });

  it("answers in the order of its cases, each exchange once", async () => {
    const recording = replay(GECKO, file, ["rate-limit", "success", "success"]);
    const limited = await send("/price?ids=a&vs=usd");
    expect([limited.status, limited.headers.get("retry-after")]).to.deep.equal([429, "30"]);
    for (const status of [200, 200, 501]) expect((await send("/price?ids=a&vs=usd")).status).to.equal(status);
    expect(() => recording.assertDone()).to.throw("Mocks not yet satisfied");
  });

  it("answers a JSON-RPC call with its own id, as often as it is asked for when it is told to", async () => {
    const recording = replayAlways(GECKO, file, ["empty"]);
    for (const id of [1, 2]) {
      const call = { jsonrpc: "2.0", id, method: "getBlock", params: [1] };
      expect(JSON.parse((await send("", call)).text)).to.deep.equal({ jsonrpc: "2.0", id, result: null });
    }
    expect(recording.asked).to.have.length(2);
    expect((await send("", { jsonrpc: "2.0", id: 3, method: "getBlock", params: [2] })).status).to.equal(501);
  });

  it("keeps a caller waiting until its own patience ends", async () => {
    replay(GECKO, file, ["slow"]);
    const waiting = send("/price?ids=a&vs=usd", undefined, AbortSignal.timeout(20));
    expect(await waiting.catch((error: Error) => error.name)).to.equal("TimeoutError");
  });

  it("lets nothing out but to loopback", async () => {
    const left = await send("/price?ids=a&vs=usd").catch(({ code }) => code);
    expect(left, "what the test before has left unanswered").to.equal("ENETUNREACH");
    const server = createRpcServer({ ping: () => "pong" });
    const url = await listenOnLoopback(server);
    const call = { method: "POST", body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' };
    expect(await (await fetch(url, call)).json()).to.have.property("result", "pong");
    await closeServer(server);
  });

  it("is not chosen by a word that stands for no case", () => {
    expect(() => replay(GECKO, file, ["succes"])).to.throw("has no case succes");
  });
});
