import { expect } from "chai";
import { parseTransaction } from "viem";
import { eventually } from "../../support/eventually.ts";
import { ETHER, GWEI, NOBODY, never, stageSender, text, toHex } from "./sender-stage.ts";

/** How often the sender looks at the chain before the chain changes again. */
const LOOKS_A_ROUND = 3;

describe("the EVM sender", () => {
  const stage = stageSender();
  const { open, mine, history, pooled } = stage;

  it("sends what it is given, and says where it stands", async () => {
    const { hash, blockNumber, status, sentAt } = await open().send({ to: NOBODY, data: text(7), value: 3n }, never);
    const [sent] = await history();
    expect(sent).to.include({ hash, nonce: 0, input: text(7) });
    expect(Number(blockNumber)).to.equal(Number(await stage.chain.rpc("eth_blockNumber", [])));
    expect(status).to.equal("success");
    expect(sentAt).to.be.closeTo(Date.now(), 60_000);
  });

  for (const method of ["eth_estimateGas", "eth_sendRawTransaction"])
    it(`asks again where nodes answer to ${method} that they were asked too often`, async () => {
      const errors = [
        { code: -32016, message: "over rate limit" },
        { code: -32090, message: "Too many requests, reason: call rate limit exhausted" },
      ];
      const bodies = errors.map((error) => JSON.stringify({ jsonrpc: "2.0", id: 1, error }));
      stage.proxy.intervene((asked) => {
        const body = asked === method ? bodies.pop() : undefined;
        return body === undefined ? "pass" : { status: 200, body };
      });
      await open({ rebroadcastMs: 600_000, stuckMs: 600_000 }).send({ to: NOBODY, data: text(1) }, never);
      expect(await history()).to.have.length(1);
    });

  it("sends also on a node that has no method for tips, by the code of JSON-RPC and by that of EIP-1474", async () => {
    for (const code of [-32601, -32004]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code, message: "no such method" } });
      stage.proxy.intervene((method) => (method === "eth_maxPriorityFeePerGas" ? { status: 200, body } : "pass"));
      expect(await open().send({ to: NOBODY }, never), String(code)).to.include({ status: "success" });
    }
  });

  it("sends 500 at once through drops, gas x 20 and stuck transactions: no gap, no reuse, the cap held", async function () {
    this.timeout(180_000);
    await stage.chain.rpc("evm_setAutomine", [false]);
    const feeCapWei = 30_000n * 60n * GWEI;
    const sender = open({ feeCapWei, includeMs: 150_000 });
    const all = Promise.all(
      Array.from({ length: 500 }, (_, index) => sender.send({ to: NOBODY, data: text(index) }, never)),
    );
    let done = false;
    let dropped = 0;
    void all.finally(() => {
      done = true;
    });
    const looks = (): number => stage.proxy.calls.filter((method) => method === "eth_getBlockByNumber").length;
    for (let round = 0; !done; round++) {
      const seen = looks();
      await eventually(() => done || looks() >= seen + LOOKS_A_ROUND);
      if (round % 5 === 2)
        for (const hash of (await pooled()).slice(0, 5)) {
          dropped += (await stage.chain.rpc("anvil_dropTransaction", [hash])) ? 1 : 0;
        }
      if (round > 3 && round < 20) await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(20n * GWEI)]);
      if (round > 3 && round % 2 === 0) await mine();
    }
    const receipts = await all;
    expect(dropped, "drops").to.be.above(0);
    expect(stage.events, "replacements").to.include("evm.replaced");
    const sent = await history();
    expect(sent.map(({ nonce }) => nonce)).to.deep.equal(Array.from({ length: 500 }, (_, nonce) => nonce));
    expect(sent.map(({ input }) => input).sort()).to.deep.equal(Array.from({ length: 500 }, (_, index) => text(index)));
    expect(new Set(receipts.map(({ hash }) => hash))).to.deep.equal(new Set(sent.map(({ hash }) => hash)));
    expect(sent.filter(({ maxFeePerGas, gas }) => maxFeePerGas * gas > feeCapWei)).to.deep.equal([]);
    expect(payloadsByNonce().filter((payloads) => payloads.size !== 1)).to.deep.equal([]);
    const fees = [...(stage.store.fees?.values() ?? [])].map(({ amount }) => BigInt(amount));
    const left = BigInt((await stage.chain.rpc("eth_getBalance", [stage.account.address, "latest"])) as string);
    expect([fees.length, fees.reduce((sum, fee) => sum + fee, left)], "fees").to.deep.equal([500, ETHER]);
  });

  it("shares one key between two processes on one store without a collision", async () => {
    const [one, two] = [open(), open()];
    await Promise.all(
      Array.from({ length: 120 }, (_, index) => (index % 2 ? one : two).send({ to: NOBODY, data: text(index) }, never)),
    );
    const sent = await history();
    expect(sent.map(({ nonce }) => nonce)).to.deep.equal(Array.from({ length: 120 }, (_, nonce) => nonce));
    expect(new Set(sent.map(({ input }) => input)).size).to.equal(120);
  });

  it("leaves no gap when a caller goes away, before or after the signature", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const sender = open({ stuckMs: 100_000 }); // A replacement would be a third entry.
    const early = AbortSignal.abort(new Error("gone early"));
    expect(await sender.send({ to: NOBODY, data: text(1) }, early).catch(String)).to.equal("Error: gone early");
    const late = new AbortController();
    const left = sender.send({ to: NOBODY, data: text(2) }, late.signal).catch(String);
    await eventually(() => stage.store.entries.size > 0);
    late.abort(new Error("gone late"));
    expect(await left).to.equal("Error: gone late");
    const stayed = sender.send({ to: NOBODY, data: text(3) }, never);
    await eventually(() => stage.store.entries.size === 2);
    await stage.chain.rpc("evm_setAutomine", [true]);
    await mine();
    await stayed;
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([
      [0, text(2)],
      [1, text(3)],
    ]);
  });

  /** For every nonce, the different things that were ever signed for it. */
  function payloadsByNonce(): Set<string>[] {
    const found = new Map<number, Set<string>>();
    for (const [key, { text }] of stage.store.entries as Iterable<[string, { text: string }]>) {
      if (!key.startsWith("evm-tx:")) continue;
      const { nonce = 0, to, data, value } = parseTransaction((JSON.parse(text) as { raw: `0x02${string}` }).raw);
      const payloads = found.get(nonce) ?? new Set();
      found.set(nonce, payloads.add(`${to} ${data} ${value}`));
    }
    return [...found.values()];
  }
});
