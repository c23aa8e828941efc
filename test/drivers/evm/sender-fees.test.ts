import { expect } from "chai";
import { toFees, toRaisedFees } from "../../../runtime/drivers/evm/sender/fees.ts";
import { eventually } from "../../support/eventually.ts";
import { ETHER, GWEI, NOBODY, never, stageSender, text, toHex } from "./sender-stage.ts";

describe("the EVM sender", () => {
  const stage = stageSender();
  const { open, mine, history } = stage;

  it("gives a nonce back when the account cannot pay, and says that it is not available", async () => {
    await stage.chain.setBalance(stage.account.address, 1n);
    const sender = open();
    const refusal = await sender
      .send({ to: NOBODY, data: text(1), gas: 30_000n }, never)
      .catch((error: unknown) => error);
    expect(refusal).to.include({
      code: "unavailable",
      message: "The service cannot pay for a transaction on Base now",
    });
    await stage.chain.setBalance(stage.account.address, ETHER);
    await sender.send({ to: NOBODY, data: text(2) }, never);
    expect((await history()).map(({ nonce, input }) => [nonce, input])).to.deep.equal([[0, text(2)]]);
  });

  it("sends nothing while the chain asks for more than the cap", async () => {
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(500n * GWEI)]);
    await mine();
    const sender = open({ feeCapWei: 30_000n * 100n * GWEI });
    const refusal = await sender.send({ to: NOBODY, data: text(1) }, never).catch((error: unknown) => error);
    expect(refusal).to.include({
      code: "unavailable",
      message: "Transactions on Base cost more now than this service may pay",
    });
    expect(stage.store.entries.size, "signed forms").to.equal(0);
  });

  it("raises no fee while the chain makes no blocks, and once in each block that takes nothing", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    let shift = 0;
    const sender = open({ clock: { now: () => Date.now() + shift }, stuckMs: 15_000 });
    const { hash, included } = await sender.submit({ to: NOBODY, data: text(1) }, never);
    const looks = (): number => stage.proxy.calls.filter((method) => method === "eth_getBlockByNumber").length;
    for (let minute = 0; minute < 3; minute += 1) {
      const before = looks();
      await eventually(() => looks() > before + 2);
      shift += 60_000;
    }
    expect(await stage.pooled(), "the chain stands still").to.deep.equal([hash]);
    await stage.mineWithout();
    await eventually(() => stage.events.includes("evm.replaced"));
    await eventually(async () => {
      await mine();
      return (await history()).length === 1;
    });
    await included(AbortSignal.timeout(30_000));
    expect(stage.events.filter((event) => event === "evm.replaced")).to.have.length(1);
  });

  it("never exceeds the cap for what is stuck, and sends it on when the price has come down", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const feeCapWei = 30_000n * 8n * GWEI;
    const sender = open({ feeCapWei });
    const waiting = sender.send({ to: NOBODY, data: text(1), gas: 30_000n }, never);
    await eventually(() => stage.store.entries.size > 0);
    await eventually(
      async () => {
        await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(100n * GWEI)]);
        await mine();
      },
      () => stage.events.includes("evm.fee-cap"),
      50,
    );
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
    await mine();
    await stage.chain.rpc("evm_setAutomine", [true]);
    await waiting;
    const [sent] = await history();
    expect(sent!.maxFeePerGas * sent!.gas <= feeCapWei).to.equal(true);
  });
});

describe("the fees of the treasury's transactions", () => {
  it("leave room for the tip below the cap", () => {
    expect(toFees({ baseFee: 90n, tip: 10n }, 100n)).to.deep.equal({ maxFeePerGas: 100n, maxPriorityFeePerGas: 10n });
    expect(toFees({ baseFee: 90n, tip: 11n }, 100n)).to.equal(undefined);
  });

  it("rise by more than an eighth for a replacement, also the smallest", () => {
    const raised = toRaisedFees({ maxFeePerGas: 8n, maxPriorityFeePerGas: 1n }, { baseFee: 0n, tip: 0n }, 100n);
    expect(raised).to.deep.equal({ maxFeePerGas: 10n, maxPriorityFeePerGas: 2n });
  });
});
