import { inspect } from "node:util";
import { expect } from "chai";
import { createSolanaClient } from "../../../runtime/drivers/solana/client.ts";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { thrown } from "../../support/thrown.ts";

describe("the Solana client", () => {
  let chain: SvmChain;
  let proxy: RpcProxy;

  before(async () => {
    chain = await startSvmChain();
  });
  after(() => chain.stop());
  beforeEach(async () => {
    proxy = await startRpcProxy(chain.url);
  });
  afterEach(() => proxy.stop());

  const open = (url = proxy.url, network: string = chain.network) =>
    createSolanaClient({ url, network, retries: 1, retryDelayMs: 5, timeoutMs: 5000 });

  it("asks for nothing before it is used, and for the genesis once", async () => {
    const client = open();
    expect(proxy.calls).to.deep.equal([]);
    await client.ask((connection) => connection.getSlot());
    await client.ask((connection) => connection.getBlockHeight());
    expect(proxy.calls).to.deep.equal(["getGenesisHash", "getSlot", "getBlockHeight"]);
  });

  it("refuses an RPC URL of another chain", async () => {
    const client = open(proxy.url, "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1");
    expect(await thrown(client.ask((connection) => connection.getSlot()))).to.include({
      code: "unavailable",
      message: "The RPC URL of Solana leads to another chain than solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
    });
  });

  it("asks again, gives up as an outage, and keeps the secrets of its URL to itself", async () => {
    const client = open(`${proxy.url.replace("//", "//operator:hunter2@")}/v2/secret-key`);
    let lost = 0;
    proxy.intervene(() => (lost++ === 0 ? "lose" : "pass"));
    expect(await client.ask((connection) => connection.getSlot())).to.be.a("number");
    for (const fate of ["lose", { status: 503, body: "busy" }, { status: 200, body: "<html>" }] as const) {
      proxy.intervene(() => fate);
      const error = await thrown(client.ask((connection) => connection.getSlot()));
      expect(error).to.include({ code: "upstream-failed", message: "The Solana chain could not be asked" });
      expect(inspect(error, { depth: 9, showHidden: true })).not.to.match(/hunter2|secret-key/);
    }
  });

  it("asks again where a node answers that it is behind or busy: another one may be at the same address", async () => {
    for (const [code, times] of Object.entries({ "-32005": 2, "-32016": 2, "429": 2, "-32009": 1 })) {
      const asked = (): number => proxy.calls.filter((method) => method === "getSlot").length;
      const [before, client] = [asked(), open()];
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: Number(code), message: "no" } });
      proxy.intervene((method) => (method === "getSlot" && asked() === before + 1 ? { status: 200, body } : "pass"));
      const found = await thrown(client.ask((connection) => connection.getSlot()));
      expect([asked() - before, typeof found], code).to.deep.equal([times, times > 1 ? "number" : "object"]);
    }
  });
});
