import { expect } from "chai";
import { toHex } from "viem";
import type { Store } from "../../../runtime/core/store.ts";
import { eventually } from "../../support/eventually.ts";
import { ETHER, GWEI, type Mined, NOBODY, never, stageSender, text } from "./sender-stage.ts";

describe("the EVM sender", () => {
  const stage = stageSender();
  const { open, history, pooled } = stage;
  /** As other hands send with the sender's key. */
  const sendElsewhere = async (nonce: number): Promise<unknown> => {
    const terms = { type: "eip1559", chainId: 8453, to: NOBODY, gas: 21_000n, maxFeePerGas: 5n * GWEI } as const;
    return stage.chain.rpc("eth_sendRawTransaction", [await stage.account.signTransaction({ ...terms, nonce })]);
  };

  it("sends a transaction once when the node takes it and its answer is lost", async () => {
    let lost = 0;
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" && lost++ === 0 ? "lose-answer" : "pass"));
    const { hash } = await open().send({ to: NOBODY, data: text(1) }, never);
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
  });

  it("hands the same bytes over again when the node never got them", async () => {
    let lost = 0;
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" && lost++ < 6 ? "lose" : "pass"));
    const { hash } = await open({ stuckMs: 10_000 }).send({ to: NOBODY, data: text(1) }, never);
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
    expect([...stage.store.entries.keys()].filter((key) => key.startsWith("evm-tx:"))).to.have.length(1);
  });

  it("sends again, and reads the fees anew, after the clock was set back", async () => {
    let shift = 0;
    const clock = { now: () => Date.now() + shift };
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const sender = open({ clock });
    const lost = await sender.submit({ to: NOBODY, data: text(1), gas: 30_000n }, never);
    shift = -3_600_000;
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(3n * GWEI)]);
    await stage.mine();
    expect((await sender.market(never)).baseFee).to.equal(3n * GWEI);
    stage.proxy.intervene(() => "pass");
    const { hash } = await lost.included(AbortSignal.timeout(30_000));
    expect((await history()).map((sent) => sent.hash)).to.deep.equal([hash]);
  });

  it("takes up after a crash what was signed and not broadcast, and leaves no gap", async () => {
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const crashed = open({ stuckMs: 60_000 });
    const left = [await crashed.submit({ to: NOBODY, data: text(1) }, never)];
    left.push(await crashed.submit({ to: NOBODY, data: text(2) }, never));
    crashed.close();
    stage.proxy.intervene(() => "pass");
    await open({ rebroadcastMs: 60_000, stuckMs: 60_000 }).send({ to: NOBODY, data: text(3) }, never);
    const sent = await history();
    expect(sent.map(({ input }) => input)).to.deep.equal([text(1), text(2), text(3)]);
    expect(sent.slice(0, 2).map(({ hash }) => hash)).to.deep.equal(left.map(({ hash }) => hash));
  });

  it("takes up what another process left behind while it was itself at work", async () => {
    const [living, other] = [open(), open()];
    await living.send({ to: NOBODY, data: text(1) }, never);
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    await other.submit({ to: NOBODY, data: text(2) }, never);
    other.close();
    stage.proxy.intervene(() => "pass");
    await living.send({ to: NOBODY, data: text(3) }, never);
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1), text(2), text(3)]);
  });

  it("raises the fee of what another process left behind in the node, so that nothing waits behind it for ever", async () => {
    const [living, other] = [open(), open()];
    await living.send({ to: NOBODY, data: text(1) }, never);
    await stage.chain.rpc("evm_setAutomine", [false]);
    const { hash } = await other.submit({ to: NOBODY, data: text(2) }, never);
    other.close();
    const ours = await living.submit({ to: NOBODY, data: text(3) }, never);
    expect(await pooled(), "both, or the first one's replacement by now")
      .to.have.length(2)
      .and.include(ours.hash);
    await eventually(async () => {
      await stage.mineWithout();
      const all = [...(await history()).map((sent) => sent.hash), ...(await pooled())];
      return all.length === 3 && !all.includes(hash);
    });
    await stage.chain.rpc("evm_setAutomine", [true]);
    await stage.mine();
    await ours.included(AbortSignal.timeout(30_000));
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1), text(2), text(3)]);
  });

  it("fills a hole that other hands left, so that nothing waits behind it for ever", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const hash = await sendElsewhere(0);
    let refused = 0; // The first time, as where another process has just taken the hole.
    const putIfAbsent: Store["putIfAbsent"] = async (key, ...entry) =>
      (!key.endsWith(":0:0") || refused++ > 0) && stage.store.putIfAbsent(key, ...entry);
    const ours = open({ store: { ...stage.store, putIfAbsent } }).send({ to: NOBODY, data: text(1) }, never);
    await eventually(async () => (await pooled()).length === 2);
    await stage.chain.rpc("anvil_dropTransaction", [hash]);
    await stage.chain.rpc("evm_setAutomine", [true]);
    await ours;
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([
      [0, "0x"],
      [1, text(1)],
    ]);
    const [{ hash: filling }] = (await history()) as [Mined];
    const journal = [...stage.store.entries].filter(([key]) => key.endsWith(":0:0"));
    expect(JSON.stringify(journal), "is on record before it is sent").to.contain(filling);
  });

  it("forgets a transaction that the node refuses for good: nobody waits behind it, and its nonce is free", async () => {
    let shift = 0;
    const sender = open({ clock: { now: () => Date.now() + shift } });
    await stage.chain.setBalance(stage.account.address, 0n);
    const refusal = await sender.submit({ to: NOBODY, gas: 30_000n }, never).catch((error: unknown) => error);
    expect(refusal).to.include({ code: "unavailable" });
    shift = 60_000;
    expect(sender.waitingMs()).to.equal(0);
    await stage.chain.setBalance(stage.account.address, ETHER);
    await sender.send({ to: NOBODY, data: text(1) }, never);
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([[0, text(1)]]);
  });

  it("goes on behind transactions that other hands sent with its key", async () => {
    let shift = 0;
    const sender = open({ clock: { now: () => Date.now() + shift } });
    await sender.send({ to: NOBODY, data: text(1) }, never);
    await sendElsewhere(1);
    shift = 60_000; // What it has read of the chain is too old now.
    await sender.send({ to: NOBODY, data: text(2) }, never);
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(1), "0x", text(2)]);
  });

  it("says so when other hands took the very nonce that it had signed for", async () => {
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    const ours = open().send({ to: NOBODY, data: text(1) }, never);
    const refusal = ours.catch((error: unknown) => error);
    await eventually(() => stage.store.entries.size > 0);
    await sendElsewhere(0);
    expect(await refusal).to.include({ code: "upstream-failed" });
    expect(stage.events).to.include("evm.nonce-lost");
  });
});
