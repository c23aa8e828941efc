import { expect } from "chai";
import transaction from "../../../plugins/transaction/index.ts";
import type { RpcAnswer } from "../../../runtime/api/plugin.ts";
import { offline } from "../../support/sources/replay.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";
import { CHAINS, record, start, TX_HASHES, UNKNOWN } from "./recorded-chains.ts";

describe("a transaction that cannot be decoded", () => {
  offline();

  for (const chain of CHAINS) {
    const name = { base: "Base", ethereum: "Ethereum", solana: "Solana" }[chain];

    it(`is not charged when ${chain} does not know it`, async () => {
      const asked = record(chain, "empty");
      const problem = await problemOf((await start())({ chain, tx_hash: UNKNOWN[chain] }));
      expect(problem.code).to.equal("nothing-found");
      expect(problem.message).to.match(
        new RegExp(`^The ${name} node knows no transaction ${UNKNOWN[chain]}: .* may be`),
      );
      asked.assertDone();
    });

    const failing = chain === "solana" ? ["malformed:accounts", "malformed:other"] : ["error:pruned"];
    for (const one of ["error", "error:down", "malformed", "malformed:shape", "slow", ...failing])
      it(`is not charged when the node of ${chain} fails (${one})`, async () => {
        record(chain, one);
        const ask = await start(one === "slow" ? { timeoutMs: 100 } : {});
        const problem = await problemOf(ask({ chain, tx_hash: TX_HASHES[chain] }));
        expect(problem.code).to.equal("upstream-failed");
        expect(problem.message).not.to.match(/test|header|pruned|history|gateway/i);
      });

    it(`is not charged when the node of ${chain} wants to be left alone, and its wish is passed on`, async () => {
      record(chain, "rate-limit");
      const problem = await problemOf((await start())({ chain, tx_hash: TX_HASHES[chain] }));
      expect(problem.code).to.equal("upstream-failed");
      expect(problem.options.retryAfter).to.equal(30);
    });
  }

  it("is not charged when it is of a version of Solana's that is too new", async () => {
    record("solana", "error:version");
    const problem = await problemOf((await start())({ chain: "solana", tx_hash: TX_HASHES.solana }));
    expect(problem.code).to.equal("unparseable-input");
  });

  it("is not charged when no node is configured", async () => {
    const ask = await serve("decode_tx", transaction, createHost());
    const problem = await problemOf(ask({ chain: "ethereum", tx_hash: TX_HASHES.ethereum }));
    expect(problem.code).to.equal("unavailable");
    expect(problem.message).to.contain("ETHEREUM_RPC_URL");
  });
});

describe("a chain that changes while it is read", () => {
  const hash = TX_HASHES.base;
  const [old, fresh] = [`0x${"aa".repeat(32)}`, `0x${"bb".repeat(32)}`];
  const address = `0x${"ab".repeat(20)}`;
  const pending = { hash, blockHash: null, from: address, to: address, value: "0x1", input: "0x" };
  const minedIn = (blockHash: string): object => ({ ...pending, blockHash });
  const receiptIn = (blockHash: string): object => ({
    transactionHash: hash,
    blockHash,
    gasUsed: "0x5208",
    status: "0x1",
  });
  const blockOf = (hash: string): object => ({ hash, number: "0x10", timestamp: "0x20" });

  /** Each method's answers, in order; the last one is repeated. */
  async function ask(transactions: unknown[], receipts: unknown[], blocks: Record<string, unknown>): Promise<Answered> {
    const next = (answers: unknown[]): unknown => (answers.length > 1 ? answers.shift() : answers[0]);
    let reads = 0;
    const rpc = async (method: string, [of]: readonly unknown[]): Promise<RpcAnswer> => {
      reads += 1;
      if (method === "eth_getTransactionByHash") return { result: next(transactions) };
      if (method === "eth_getTransactionReceipt") return { result: next(receipts) };
      return { result: blocks[of as string] ?? null };
    };
    const { upstream } = createHost();
    const host = createHost({ upstream: (id) => ({ ...upstream(id), rpc }) });
    const decode = await serve("decode_tx", transaction, host);
    return { answer: decode({ chain: "base", tx_hash: hash }), reads: () => reads };
  }
  interface Answered {
    readonly answer: ReturnType<Serve>;
    readonly reads: () => number;
  }

  it("is read again when a pending transaction was mined in between", async () => {
    const { answer } = await ask([pending, minedIn(fresh)], [receiptIn(fresh)], { [fresh]: blockOf(fresh) });
    expect(await answer).to.include({ status: 1, block_number: 16, timestamp: 32 });
  });

  it("is believed to have mined what has a receipt, and is shown as pending all the same", async () => {
    const { answer } = await ask([pending], [receiptIn(fresh)], { [fresh]: blockOf(fresh) });
    expect(await answer).to.include({ status: 1, block_number: 16, timestamp: 32 });
  });

  it("is read again when a pending transaction has the receipt of a block that is gone", async () => {
    const { answer } = await ask([pending], [receiptIn(old), null], { [old]: blockOf(old) });
    expect(await answer).to.include({ status: "pending", block_number: null });
  });

  it("is read again when the transaction moved to another block", async () => {
    const { answer } = await ask([minedIn(old), minedIn(fresh)], [receiptIn(fresh)], { [fresh]: blockOf(fresh) });
    expect(await answer).to.include({ status: 1, block_number: 16, gas_used: 21000 });
  });

  it("is decoded also where a source does not repeat what it was asked for", async () => {
    const { transactionHash: _, ...receipt } = receiptIn(fresh) as { transactionHash: string };
    const { hash: _hash, ...block } = blockOf(fresh) as { hash: string };
    const { answer } = await ask([minedIn(fresh)], [receipt], { [fresh]: block });
    expect(await answer).to.include({ status: 1, block_number: 16, timestamp: 32 });
  });

  it("is not charged when its receipt lacks the outcome that those of its time have", async () => {
    const { status: _, ...receipt } = receiptIn(fresh) as { status: string };
    const askAt = async (number: string) =>
      (await ask([minedIn(fresh)], [receipt], { [fresh]: { ...blockOf(fresh), number } })).answer;
    expect(await askAt("0x42ae4f")).to.include({ status: null });
    expect((await problemOf(askAt("0x42ae50"))).code).to.equal("upstream-failed");
  });

  it("is read again when the block is gone, and the transaction waits once more", async () => {
    const { answer } = await ask([minedIn(old), pending], [receiptIn(old), null], {});
    expect(await answer).to.include({ status: "pending", block_number: null, timestamp: null, gas_used: null });
  });

  it("is not known any more when the transaction is gone altogether", async () => {
    const { answer } = await ask([minedIn(old), null], [receiptIn(old), null], {});
    expect((await problemOf(answer)).code).to.equal("nothing-found");
  });

  it("is not charged, and not asked for ever, when its node keeps contradicting itself", async () => {
    const contradictions: Record<string, Parameters<typeof ask>> = {
      "a block that is not there": [[minedIn(old)], [receiptIn(old)], {}],
      "a receipt without a transaction": [[null], [receiptIn(old)], { [old]: blockOf(old) }],
      "a mined transaction without a receipt": [[minedIn(old)], [null], { [old]: blockOf(old) }],
      "two blocks": [[minedIn(old)], [receiptIn(fresh)], { [old]: blockOf(old), [fresh]: blockOf(fresh) }],
      "another transaction's receipt": [
        [minedIn(old)],
        [{ ...receiptIn(old), transactionHash: old }],
        { [old]: blockOf(old) },
      ],
      "another block": [[minedIn(old)], [receiptIn(old)], { [old]: blockOf(fresh) }],
      "another transaction": [[{ ...minedIn(old), hash: old }], [receiptIn(old)], { [old]: blockOf(old) }],
    };
    for (const [name, story] of Object.entries(contradictions)) {
      const { answer, reads } = await ask(...story);
      const problem = await problemOf(answer);
      expect(problem.code, name).to.equal("upstream-failed");
      expect(problem.options.retryAfter, name).to.equal(2);
      expect(reads(), name).to.be.at.most(6);
    }
  });
});
