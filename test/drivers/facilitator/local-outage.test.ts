import { expect } from "chai";
import { toHex } from "viem";
import { Problem } from "../../../runtime/api/problem.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { thrown } from "../../support/thrown.ts";
import { ETHER, GWEI, never, offer, stageFacilitator, treasury } from "./stage.ts";

describe("the in-process facilitator", () => {
  const stage = stageFacilitator();
  const { open, pay } = stage;

  for (const method of ["eth_call", "eth_getCode"]) {
    it(`calls an outage of ${method} an outage, never an invalid signature`, async () => {
      const facilitator = open();
      const payment = await pay();
      stage.proxy.intervene((asked) => (asked === method ? "lose" : "pass"));
      const error = await thrown(facilitator.verify(payment, offer, never));
      expect(error).to.include({ code: "facilitator-unavailable" });
      stage.proxy.intervene(() => "pass");
      expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: true });
    });
  }

  for (const method of ["eth_getCode", "eth_estimateGas", "eth_getTransactionCount"])
    it(`calls a settlement unknown when ${method} is not answered`, async () => {
      const facilitator = open();
      const payment = await pay();
      stage.proxy.intervene((asked) => (asked === method ? "lose" : "pass"));
      expect(await thrown(facilitator.settle(payment, offer, never))).to.include({ code: "settlement-unknown" });
    });

  it("calls a settlement unknown when the store has failed after it took the transaction, which is sent later", async () => {
    const store = createMemoryStore();
    const putIfAbsent: typeof store.putIfAbsent = async (key, ...rest) => {
      const isFirst = await store.putIfAbsent(key, ...rest);
      if (key.startsWith("evm-tx:")) throw new Problem("unavailable", "The store cannot be reached");
      return isFirst;
    };
    const payment = await pay();
    const error = await thrown(open({ ...store, putIfAbsent }).settle(payment, offer, never));
    expect(error).to.include({ code: "settlement-unknown" });
    expect(await open(store).settle(payment, offer, never)).to.include({ success: true });
  });

  it("keeps the hash of what is not confirmed in time, and resolves it when asked again", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const store = createMemoryStore();
    const payment = await pay();
    const pending = await open(store, { confirmationMs: 200 }).settle(payment, offer, never);
    expect(pending).to.include({ success: false, errorReason: "settlement_pending" });
    expect(pending.transaction).to.match(/^0x[0-9a-f]{64}$/);
    stage.sender.close();
    await stage.chain.rpc("evm_setAutomine", [true]);
    await stage.chain.rpc("evm_mine", []);
    expect(await open(store).settle(payment, offer, never)).to.include({
      success: true,
      transaction: pending.transaction,
    });
  });

  it("names the transaction that is in the chain when its fee had to be raised", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const store = createMemoryStore();
    const settling = open(store, { stuckMs: 500 }).settle(await pay(), offer, never);
    let isSettled = false;
    void settling.finally(() => {
      isSettled = true;
    });
    await eventually(() => store.entries.size > 0); // Its first form is signed, for the fees of now.
    await eventually(
      async () => {
        await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(50n * GWEI)]);
        await stage.chain.rpc("evm_mine", []);
      },
      () => isSettled,
      50,
    );
    const receipt = await settling;
    const [first] = [...store.entries].filter(([key]) => key.endsWith(":0")).map(([, value]) => JSON.stringify(value));
    expect(receipt).to.include({ success: true });
    expect(first, "the first form").not.to.include(receipt.transaction);
    expect(await stage.chain.rpc("eth_getTransactionReceipt", [receipt.transaction])).to.include({ status: "0x1" });
    await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
    await stage.chain.rpc("evm_mine", []);
  });

  it("takes no payment while gas costs more than it may pay: the work would be done and nothing could settle", async () => {
    const facilitator = open();
    const payment = await pay();
    const setPrice = async (gwei: bigint): Promise<void> => {
      await stage.chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(gwei * GWEI)]);
      await stage.chain.rpc("evm_mine", []);
    };
    await setPrice(20_000n);
    const dear = "Transactions on Polygon cost more now than this service may pay";
    const error = await thrown(facilitator.verify(payment, offer, never));
    expect(error).to.include({ code: "facilitator-unavailable", message: dear });
    expect(await thrown(facilitator.supported(never))).to.include({ code: "unavailable", message: dear });
    await setPrice(1n);
    expect(await open().verify(payment, offer, never)).to.include({ isValid: true });
    expect(await facilitator.supported(never)).to.have.length(1);
  });

  it("takes no payment while no block takes its transactions: what is sent next would stand in line", async () => {
    let shift = 0;
    const clock = { now: () => Date.now() + shift };
    const facilitator = open(createMemoryStore(), { confirmationMs: 200, clock });
    await stage.chain.rpc("evm_setAutomine", [false]);
    expect(await facilitator.settle(await pay(), offer, never)).to.include({ errorReason: "settlement_pending" });
    const next = await pay();
    expect(await facilitator.verify(next, offer, never)).to.include({ isValid: true });
    shift = 60_000;
    const message = "No block on Polygon takes the treasury's transactions now";
    const error = await thrown(facilitator.verify(next, offer, never));
    expect(error).to.include({ code: "facilitator-unavailable", message });
    expect(await thrown(facilitator.supported(never))).to.include({ code: "unavailable", message });
    await stage.chain.rpc("evm_mine", []);
    await eventually(() => stage.sender.waitingMs() === 0);
    expect(await facilitator.supported(never)).to.have.length(1);
    expect(await facilitator.verify(next, offer, never)).to.include({ isValid: true });
  });

  it("bars no payer whose payments expired while no block took them", async () => {
    const short = { ...offer, maxTimeoutSeconds: 40 };
    const facilitator = open(createMemoryStore(), { confirmationMs: 200 });
    await stage.chain.rpc("evm_setAutomine", [false]);
    const payments = await Promise.all(Array.from({ length: 5 }, () => pay(short)));
    for (const answer of await Promise.all(payments.map((payment) => facilitator.settle(payment, short, never))))
      expect(answer).to.include({ errorReason: "settlement_pending" });
    await stage.chain.rpc("evm_increaseTime", [60]);
    await stage.chain.rpc("evm_mine", []);
    const [warning] = await eventually(
      () => facilitator.warnings!(),
      ([line]) => line?.includes("5 settlements reverted") === true,
    );
    expect(warning).to.match(/^Polygon: 5 settlements reverted within a day/);
    expect(await facilitator.verify(await pay(), offer, never)).to.include({ isValid: true });
  });

  it("does not call a payment refused that an earlier attempt has settled", async () => {
    const payment = await pay();
    await open().settle(payment, offer, never);
    stage.sender.close();
    expect(await thrown(open().settle(payment, offer, never))).to.include({ code: "settlement-unknown" });
  });

  it("calls it unknown, not refused, when the treasury cannot pay for the gas", async () => {
    await stage.chain.setBalance(treasury.address, 0n);
    const error = await thrown(open().settle(await pay(), offer, never));
    await stage.chain.setBalance(treasury.address, 100n * ETHER);
    expect(error).to.include({ code: "settlement-unknown" });
  });
});
