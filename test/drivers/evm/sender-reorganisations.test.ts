import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { GWEI, NOBODY, never, stageSender, text, toHex } from "./sender-stage.ts";

describe("the EVM sender", () => {
  const stage = stageSender();
  const { open, mine, history, pooled } = stage;

  for (const depth of [1, 2, 3])
    it(`believes an inclusion only as deep as asked, and sends again what a reorganisation of depth ${depth} took back`, async () => {
      await stage.chain.rpc("evm_setAutomine", [false]);
      const waiting = open({ confirmations: depth + 1 }).send({ to: NOBODY, data: text(1) }, never);
      await eventually(async () => (await pooled()).length > 0);
      for (let block = 0; block < depth; block++) await mine();
      expect(await history()).to.have.length(1);
      let isOver = false;
      void waiting.finally(() => {
        isOver = true;
      });
      const asked = stage.proxy.calls.length;
      await eventually(() => stage.proxy.calls.length > asked + 5); // The sender has looked again.
      expect(isOver).to.equal(false);
      await stage.chain.rpc("anvil_reorg", [depth, []]);
      expect(await history()).to.have.length(0);
      const [included] = await Promise.all([waiting, mineUntil(waiting)]);
      const now = await history();
      expect(now.map(({ input }) => input)).to.deep.equal([text(1)]);
      expect(included.hash).to.equal(now[0]?.hash);
    });

  it("brings back what a reorganisation took, also after nobody waits for it any more", async () => {
    await open().send({ to: NOBODY, data: text(1) }, never);
    await stage.chain.rpc("evm_setAutomine", [false]);
    await stage.chain.rpc("anvil_reorg", [1, []]);
    expect(await history()).to.have.length(0);
    await eventually(async () => {
      await mine();
      return (await history()).length === 1;
    });
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1)]);
  });

  it("brings back the very transaction that it has named, however long ago that was signed", async () => {
    let shift = 0;
    const sender = open({ clock: { now: () => Date.now() + shift }, stuckMs: 15_000 });
    const { hash } = await sender.send({ to: NOBODY, data: text(1) }, never);
    await stage.chain.rpc("evm_setAutomine", [false]);
    await stage.chain.rpc("anvil_reorg", [1, []]);
    shift = 30_000;
    await eventually(async () => {
      await mine();
      return (await history()).length === 1;
    });
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
  });

  it("brings back the version that it has named, when it had replaced that before it was mined", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    let shift = 0;
    const sender = open({ clock: { now: () => Date.now() + shift }, stuckMs: 15_000, rebroadcastMs: 30_000 });
    const { hash, included } = await sender.submit({ to: NOBODY, data: text(1) }, never);
    const key = [...stage.store.entries.keys()].find((name) => name.startsWith("evm-tx:"));
    const signed = await stage.store.get<{ raw: string }>(key ?? "");
    shift = 20_000;
    await stage.mineWithout();
    await eventually(async () => (await pooled()).some((waiting) => waiting !== hash)); // Replaced.
    await stage.chain.rpc("anvil_dropAllTransactions", []);
    await stage.chain.rpc("eth_sendRawTransaction", [signed?.raw]);
    await mine();
    expect(await included(never)).to.have.property("hash", hash);
    await stage.chain.rpc("anvil_reorg", [1, []]);
    shift = 60_000;
    await eventually(async () => {
      await mine();
      return (await history()).length === 1;
    });
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
  });

  it("raises the fee of what a reorganisation took back, when no block takes it at its fee any more", async () => {
    const { hash } = await open().send({ to: NOBODY, data: text(1) }, never);
    await stage.chain.rpc("evm_setAutomine", [false]);
    await stage.chain.rpc("anvil_reorg", [1, []]);
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(100n * GWEI)]);
    await mine();
    await eventually(async () => (await pooled()).some((waiting) => waiting !== hash));
    await stage.chain.rpc("evm_setAutomine", [true]);
    await mine();
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1)]);
  });

  async function mineUntil(settled: Promise<unknown>): Promise<void> {
    let done = false;
    void settled.finally(() => {
      done = true;
    });
    await eventually(
      () => mine(),
      () => done,
      50,
    );
  }
});
