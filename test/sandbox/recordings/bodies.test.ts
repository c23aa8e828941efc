import { expect } from "chai";
import { problemOf } from "../../support/thrown.ts";
import { ask, call, GECKO, NODE, open, post, rpc, toExchange, toRequest } from "./stage.ts";

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
