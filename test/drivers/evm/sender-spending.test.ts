import { expect } from "chai";
import type { PublicClient } from "viem";
import type { FeeEvent } from "../../../runtime/core/books/fees.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { EvmClient } from "../../../runtime/drivers/evm/client.ts";
import type { Journal } from "../../../runtime/drivers/evm/sender/journal.ts";
import { createSpending, feeOf } from "../../../runtime/drivers/evm/sender/spending.ts";
import { eventually } from "../../support/eventually.ts";
import { NOBODY, never, stageSender, text } from "./sender-stage.ts";

/** Reverts whatever calls it. */
const REVERTER = "0x00000000000000000000000000000000000bad01";

describe("the EVM sender, about what it spends", () => {
  const stage = stageSender();
  const { open } = stage;
  const feesOf = (hash: string): FeeEvent | undefined => stage.store.fees?.get(hash);
  const spentFor = { purpose: "settlement", about: "eip155:8453:key" } as const;
  /** What the account is poorer by. */
  const spent = async (): Promise<bigint> =>
    10n ** 18n - BigInt((await stage.chain.rpc("eth_getBalance", [stage.account.address, "latest"])) as string);

  it("has entered what a transaction cost when its inclusion is known", async () => {
    const { hash, feeWei } = await open().send({ to: NOBODY, data: text(1), spentFor }, never);
    const fee = feesOf(hash);
    expect(fee).to.include({ kind: "fee", network: "eip155:8453", symbol: "ETH", decimals: 18, ...spentFor });
    expect(fee).to.include({ isReverted: false, amount: `${feeWei}` });
    expect(feeWei).to.equal(await spent());
  });

  it("enters what a reverted one cost, too", async () => {
    await stage.chain.rpc("anvil_setCode", [REVERTER, "0x60006000fd"]);
    const sent = await open().send({ to: REVERTER, gas: 60_000n, spentFor: { purpose: "refund" } }, never);
    expect(sent.status).to.equal("reverted");
    expect(feesOf(sent.hash)).to.include({ isReverted: true, purpose: "refund", amount: `${await spent()}` });
  });

  it("adds the data fee that a rollup's receipt names", () => {
    const receipt = { gasUsed: 21_000n, effectiveGasPrice: 3n } as Parameters<typeof feeOf>[0];
    expect(feeOf(receipt)).to.equal(63_000n);
    expect(feeOf({ ...receipt, l1Fee: "0x10" } as typeof receipt)).to.equal(63_016n);
    expect(feeOf({ ...receipt, l1Fee: null } as typeof receipt)).to.equal(63_000n);
  });

  for (const fault of [{ effectiveGasPrice: null }, { gasUsed: null }, { l1Fee: "much" }])
    it(`knows of the inclusion also where the receipt does not name the fee: ${JSON.stringify(fault)}`, async () => {
      await stage.chain.rpc("evm_setAutomine", [false]);
      let answer: object | null = null;
      stage.proxy.intervene((method) => {
        if (method !== "eth_getTransactionReceipt") return "pass";
        return { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: answer }) };
      });
      const patient = open({ stuckMs: 60_000 }); // On a busy machine it would be replaced before it is mined.
      const { hash, included } = await patient.submit({ to: NOBODY, data: text(1), spentFor }, never);
      await stage.mine();
      answer = { ...((await stage.chain.rpc("eth_getTransactionReceipt", [hash])) as object), ...fault };
      expect(await included(AbortSignal.timeout(30_000))).to.include({ hash, status: "success", feeWei: 0n });
      expect(stage.events).to.include("evm.fee-unentered");
      expect(feesOf(hash)).to.equal(undefined);
    });

  it("enters what a process has signed that was killed before it saw the block", async () => {
    await stage.chain.rpc("evm_setAutomine", [false]);
    const killed = open({ stuckMs: 60_000 }); // As above.
    const { hash } = await killed.submit({ to: NOBODY, data: text(1), spentFor }, never);
    killed.close();
    await stage.mine();
    expect(feesOf(hash)).to.equal(undefined);
    await open().market(never);
    await eventually(() => feesOf(hash) !== undefined);
    expect(feesOf(hash)).to.include({ ...spentFor, amount: `${await spent()}` });
  });

  it("enters after a crash between the receipt and the write, and goes on when the store refuses", async () => {
    const { enter } = stage.store;
    stage.store.enter = () => Promise.reject(new Error("the disk is full"));
    const crashed = open();
    const { hash } = await crashed.send({ to: NOBODY, data: text(1), spentFor }, never);
    crashed.close();
    stage.store.enter = enter;
    expect(stage.events).to.include("evm.fee-unentered");
    expect(feesOf(hash)).to.equal(undefined);
    await open().market(never);
    await eventually(() => feesOf(hash) !== undefined);
    expect(stage.store.fees?.size).to.equal(1);
  });

  it("enters all that is missing, however many, and looks no further back once nothing is", async () => {
    const [entered, asked] = [new Set(Array.from({ length: 68 }, (_, nonce) => nonce)), [] as number[]];
    const journal = {
      async hasFee(nonce: number) {
        asked.push(nonce);
        return entered.has(nonce);
      },
      read: async (nonce: number) => [{ hash: `0x${nonce}`, raw: "0x" }],
      enterFee: async (nonce: number) => void entered.add(nonce),
    } as unknown as Journal;
    const receipt = { transactionHash: "0x1", status: "success", gasUsed: 1n, effectiveGasPrice: 1n };
    const chain = { getTransactionReceipt: async () => receipt } as unknown as PublicClient;
    const client: EvmClient = { chainId: 8453, name: "Base", ask: async (work) => work(chain) };
    await createSpending({ client, journal, clock: Date, log: silentLog }).recover(140);
    expect(entered.size).to.equal(140);
    expect(Math.min(...asked)).to.equal(12);
  });
});
