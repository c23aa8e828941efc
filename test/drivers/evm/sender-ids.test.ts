import { expect } from "chai";
import type { EvmCall } from "../../../runtime/drivers/evm/sender/sender.ts";
import { eventually } from "../../support/eventually.ts";
import { NOBODY, never, stageSender, text } from "./sender-stage.ts";

/** Gives a transaction no other price, and so no other hash, while a busy machine takes its time. */
const PATIENT = { stuckMs: 60_000 };

describe("the EVM sender, asked for a call by its id", () => {
  const stage = stageSender();
  const { open, history, pooled } = stage;
  const call: EvmCall = { to: NOBODY, data: text(1), id: "one" };

  it("finds what it has submitted, and what another process has", async () => {
    const { hash } = await open(PATIENT).submit(call, never);
    const found = await open(PATIENT).find("one", never);
    expect(found?.hash).to.equal(hash);
    expect(await found?.included(never)).to.include({ hash, status: "success" });
    expect(await history()).to.have.length(1);
  });

  it("finds what was written although the store did not say so, and no later transaction waits for it", async () => {
    const { putIfAbsent } = stage.store;
    const sender = open({ rebroadcastMs: 60_000 });
    await sender.send({ to: NOBODY, data: text(0) }, never);
    stage.store.putIfAbsent = async (...args) => {
      stage.store.putIfAbsent = putIfAbsent;
      await putIfAbsent(...args);
      throw new Error("the answer is lost");
    };
    expect(await sender.submit(call, never).catch(({ message }: Error) => message)).to.equal("the answer is lost");
    await sender.send({ to: NOBODY, data: text(2) }, never);
    expect((await history()).map(({ input }) => input)).to.deep.equal([text(0), text(1), text(2)]);
    expect(await sender.find("one", never)).not.to.equal(undefined);
  });

  it("does not find a call whose claim never came about, nor the one that has its place", async () => {
    const { putIfAbsent } = stage.store;
    const sender = open();
    stage.store.putIfAbsent = () => Promise.reject(new Error("the store is away"));
    expect(await sender.submit(call, never).catch(({ message }: Error) => message)).to.equal("the store is away");
    stage.store.putIfAbsent = putIfAbsent;
    expect(await sender.find("one", never)).to.equal(undefined);
    await sender.send({ ...call, data: text(2), id: "two" }, never);
    expect(await sender.find("one", never)).to.equal(undefined);
    await sender.send(call, never);
    expect(await history()).to.have.length(2);
  });

  it("forgets a call when another transaction has taken its place", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const sender = open();
    const submission = await sender.submit(call, never);
    await eventually(async () => (await pooled()).length === 1);
    await stage.chain.rpc("anvil_dropAllTransactions", []);
    stage.proxy.intervene((method) => (method === "eth_sendRawTransaction" ? "lose" : "pass"));
    await stage.chain.rpc("anvil_setNonce", [stage.account.address, "0x1"]);
    await stage.mine();
    const outcome = await submission.included(never).catch(({ code }: { code: string }) => code);
    expect(outcome).to.equal("upstream-failed");
    await eventually(async () => (await sender.find("one", never)) === undefined);
  });
});
