import { expect } from "chai";
import type { RpcAnswer } from "../../../runtime/api/capabilities.ts";
import type { LiveUpstream } from "../../../runtime/drivers/upstream/upstream.ts";
import { problemOf } from "../../plugins/host.ts";
import { type Bench, NEVER, openBench } from "../../support/sources/live-upstream.ts";

const success = (result: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 1, result });
const refusal = (code: number, data?: unknown): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message: "no", ...(data !== undefined && { data }) } });

describe("a call of a node", () => {
  let bench: Bench;
  let node: LiveUpstream;
  beforeEach(async () => {
    bench = await openBench();
    node = bench.open({ url: `${bench.source.url}/v2/key` });
  });
  afterEach(() => bench.close());
  const call = (): Promise<RpcAnswer> => node.rpc("eth_getBalance", ["0xabc", "latest"], { signal: NEVER });

  it("is a JSON-RPC 2.0 request to the URL itself", async () => {
    bench.source.script(success("0x10"));
    expect(await call()).to.deep.equal({ result: "0x10" });
    const [asked] = bench.source.asked;
    expect(asked).to.include({ method: "POST", path: "/v2/key" });
    const { id, ...request } = JSON.parse(asked?.body ?? "");
    expect(request).to.deep.equal({ jsonrpc: "2.0", method: "eth_getBalance", params: ["0xabc", "latest"] });
    expect(id).to.be.a("number");
  });

  it("is answered by null, too", async () => {
    bench.source.script(success(null));
    expect(await call()).to.deep.equal({ result: null });
  });

  for (const status of [200, 400, 404])
    it(`is answered by the node's refusal, which comes with status ${status}`, async () => {
      bench.source.script({ status, body: refusal(3, "0x08c379a0") });
      expect(await call()).to.deep.equal({ error: { code: 3, message: "no", data: "0x08c379a0" } });
      expect(bench.source.asked).to.have.length(1);
    });

  for (const code of [-32005, -32016, 429])
    it(`is repeated when the node has answered ${code}: it was asked too often`, async () => {
      bench.source.script(refusal(code), refusal(code), success("0x1"));
      expect(await call()).to.deep.equal({ result: "0x1" });
      bench.source.script(refusal(code));
      const { code: problem, message } = await problemOf(call());
      expect([problem, message]).to.deep.equal(["upstream-failed", "Source has been asked too often"]);
      expect(node.status(), "it lives").to.deep.equal({ state: "up" });
    });

  it("is not repeated when the node says that a slot was skipped", async () => {
    bench.source.script(refusal(-32007));
    expect((await call()).error?.code).to.equal(-32007);
    expect(bench.source.asked).to.have.length(1);
  });

  const nonsense = {
    "a page": "<html>",
    nothing: "",
    "no version": '{"id":1,"result":"0x1"}',
    "neither result nor error": '{"jsonrpc":"2.0","id":1}',
    "an error without a code": '{"jsonrpc":"2.0","id":1,"error":{"message":"no"}}',
    "an error that is text": '{"jsonrpc":"2.0","id":1,"error":"no"}',
    "a list": '[{"jsonrpc":"2.0","id":1,"result":"0x1"}]',
    null: "null",
  };
  for (const [name, body] of Object.entries(nonsense))
    it(`fails when the answer is ${name}`, async () => {
      bench.source.script(body);
      const { code, message } = await problemOf(call());
      expect([code, message]).to.deep.equal([
        "upstream-failed",
        "Source answered with what is no JSON-RPC (status 200)",
      ]);
    });

  it("fails with the status when the node does not know us", async () => {
    bench.source.script({ status: 401, body: "Must be authenticated with k-5f1c9e!" });
    expect((await problemOf(call())).message).to.equal("Source answered with what is no JSON-RPC (status 401)");
  });
});
