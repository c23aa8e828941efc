import { expect } from "chai";
import wallet from "../../../../plugins/wallet/index.ts";
import { USDC_ON_SOLANA } from "../../../../plugins/wallet/intel/solana-reads.ts";
import { offline } from "../../../support/sources/replay.ts";
import { createWorldClock } from "../../../support/world/clock.ts";
import type { Fault } from "../../../support/world/manners.ts";
import type { Payment } from "../../../support/world/payments.ts";
import { openSolanaNode, toSolanaKey, toTokenAccount } from "../../../support/world/solana-node.ts";
import { createHost, problemOf, serve } from "../../host.ts";
import { investigateIn, ON_SOLANA, WALLET } from "./world.ts";

/** A node's answer for a transaction that it has pruned. */
const NOT_KEPT = JSON.stringify({ jsonrpc: "2.0", id: 1, result: null });

describe("an investigation of a Solana wallet", () => {
  offline();

  it("reads everything from a node with the limits of a public one", async () => {
    const rate = { perSecond: 4, burst: 40 };
    const manners = {
      solana: { rate: { perSecond: 10, burst: 100 }, rates: { getTransaction: rate, getSignaturesForAddress: rate } },
    };
    const { data } = await investigateIn({ payments: ON_SOLANA, manners }, WALLET);
    expect(data.missing).to.deep.equal([]);
    expect(data).to.include({ verdict: "low", provisional: false });
    expect(data.movements.volumes[1]).to.include({ asset: "USDC", received: "1500", receivedCount: 150 });
    expect(data.activity.firstSeenAt).to.be.closeTo(1_800_000_000 - 400 * 86_400, 2);
  });

  it("reads what a USDC account has received that is closed since, which a node does not list", async () => {
    const { data } = await investigateIn({ payments: ON_SOLANA, closed: [WALLET] }, WALLET);
    expect(data.movements.volumes[1]).to.include({ asset: "USDC", received: "1500", receivedCount: 150 });
    expect(data.graph.counterparties).to.equal(2);
  });

  it("is refused for a token account, before the payment, and so is the account's intelligence", async () => {
    const account = toTokenAccount(WALLET);
    const clock = createWorldClock();
    const node = await openSolanaNode({ clock, payments: ON_SOLANA });
    const host = createHost({ clock }, { urls: { solana: node.url }, pause: clock.pause, retries: 0 });
    const { investigate } = await wallet.setup(host);
    const prepare = async (address: string): Promise<void> => {
      if (typeof investigate === "object") await investigate.ready?.({ address }, new AbortController().signal);
    };
    const refusal = `${account} is a token account of the wallet ${WALLET}: ask about the wallet`;
    const refuses = async (work: Promise<unknown>): Promise<void> => {
      const { code, message } = await problemOf(work);
      expect([code, message]).to.deep.equal(["unparseable-input", refusal]);
    };
    await refuses(prepare(account));
    await refuses((await serve("intel_wallet", wallet, host))({ wallet: account }));
    await prepare(WALLET);
    node.behave({ fault: () => 500 });
    await prepare(account); // What the node does not tell is no sign.
    await node.close();
    await refuses(investigateIn({ payments: ON_SOLANA }, account));
  });

  it("sums up small payments of SOL, and leaves out rent", async () => {
    const [shop, rent] = [toSolanaKey("shop"), toSolanaKey("rent")];
    const payments: Payment[] = [
      { from: toSolanaKey("funder"), to: WALLET, asset: "SOL", amount: "20", daysAgo: 400 },
      { from: WALLET, to: rent, asset: "SOL", amount: "0.00203928", daysAgo: 300 },
      ...Array.from({ length: 30 }, (_, at): Payment => {
        return { from: WALLET, to: shop, asset: "SOL", amount: "0.009", daysAgo: 200 - at };
      }),
    ];
    const { data } = await investigateIn({ payments }, WALLET);
    expect(data.movements.volumes[0]).to.include({ asset: "SOL", sent: "0.27", sentCount: 30 });
    expect(data.graph.counterparties).to.equal(2);
  });

  it("calls no wallet young whose node has pruned its first transactions", async () => {
    const { data, report } = await investigateIn({ payments: ON_SOLANA, solanaDays: 20 }, WALLET);
    expect(data.activity.firstSeenAt).to.equal(null);
    expect(data.reasons.map(({ code }) => code)).not.to.include("young");
    expect(report).to.include("At least 20 days old");
  });

  it("does not claim that a wallet has more transactions than a node lists that has not kept all", async () => {
    const { data } = await investigateIn({ payments: ON_SOLANA, solanaDays: 500 }, WALLET);
    expect(data.coverage.find(({ source }) => source === "Solana node")).to.deep.equal({
      source: "Solana node",
      covers: "Solana node: 151 of at least 151 transactions on Solana were read.",
      whole: false,
    });
  });

  it("reads transactions of version 1, which nodes show to those alone who ask for them", async () => {
    const error = { code: -32015, message: "Transaction version (1) is not supported by the requesting client" };
    const isAsked = ([, options]: readonly unknown[]): boolean =>
      (options as { maxSupportedTransactionVersion?: number }).maxSupportedTransactionVersion === 1;
    const fault: Fault = ({ name, params }) =>
      name === "getTransaction" && !isAsked(params) ? JSON.stringify({ jsonrpc: "2.0", id: 1, error }) : undefined;
    const payments: Payment[] = [{ from: toSolanaKey("payer"), to: WALLET, asset: "USDC", amount: "7", daysAgo: 60 }];
    const { data } = await investigateIn({ payments, manners: { solana: { fault } } }, WALLET);
    expect(data.missing).to.deep.equal([]);
    expect(data.movements.volumes[0]).to.include({ asset: "USDC", received: "7", receivedCount: 1 });
  });

  it("names the transactions that the node has listed and not kept", async () => {
    const forgetful = (asked: number): Fault => {
      let count = 0;
      return ({ name }) => (name === "getTransaction" && count++ < asked ? NOT_KEPT : undefined);
    };
    const manners = { solana: { fault: forgetful(3) } };
    const { data } = await investigateIn({ payments: ON_SOLANA, manners }, WALLET);
    expect(data.missing.map(({ message }) => message)).to.deep.equal([
      "3 of its transactions could not be read: Solana node has not kept all transactions",
    ]);
    expect(data.verdict).to.equal("inconclusive");
  });

  /** The subject's one transaction: it has paid 5 SOL. */
  const PAID = {
    blockTime: 1_790_000_000,
    transaction: { message: { accountKeys: [WALLET, toSolanaKey("shop")] } },
    meta: { err: null, fee: 0, preBalances: [9e9, 1e9], postBalances: [4e9, 6e9] },
  };

  /** Nodes name no owner of what was recorded before October 2021. */
  const OF_NOBODY = { accountIndex: 1, mint: USDC_ON_SOLANA, uiTokenAmount: { amount: "5000000", decimals: 6 } };

  async function investigateOne(transaction: object, listedAt: number | null) {
    const signature = { signature: "s".repeat(88), slot: 5, blockTime: listedAt };
    const answers: Readonly<Record<string, (key: unknown) => unknown>> = {
      getSignaturesForAddress: (key) => (key === WALLET ? [signature] : []),
      getTransaction: () => transaction,
    };
    const fault: Fault = ({ name, params }) => {
      const answer = answers[name];
      return answer && JSON.stringify({ jsonrpc: "2.0", id: 1, result: answer(params[0]) });
    };
    return (await investigateIn({ payments: [], manners: { solana: { fault } } }, WALLET)).data;
  }

  for (const [what, transaction, listedAt] of [
    ["without a record of the execution", { ...PAID, meta: null }, 1_790_000_000],
    ["without balances", { ...PAID, meta: { err: null, fee: 0 } }, 1_790_000_000],
    ["with fewer balances than accounts", { ...PAID, meta: { ...PAID.meta, postBalances: [4e9] } }, 1_790_000_000],
    ["without a time", { ...PAID, blockTime: null }, null],
    ["with balances that are no numbers", { ...PAID, meta: { ...PAID.meta, postBalances: ["4", "6"] } }, 1_790_000_000],
    ["with USDC of nobody", { ...PAID, meta: { ...PAID.meta, postTokenBalances: [OF_NOBODY] } }, 1_790_000_000],
  ] as const)
    it(`does not take a transaction ${what} for one that moved nothing`, async () => {
      const why = "Solana node does not show what a transaction has changed, or when";
      const { message } = await problemOf(investigateOne(transaction, listedAt));
      expect(message).to.equal(`No transfers could be read: ${why}`);
    });

  it("sees what comes from or goes to an account with more than 2^53 lamports", async () => {
    const meta = { ...PAID.meta, preBalances: [9e9, 12e15], postBalances: [4e9, 12e15 + 5e9] };
    const { movements } = await investigateOne({ ...PAID, meta }, PAID.blockTime);
    expect(movements.volumes[0]).to.include({ asset: "SOL", sent: "5", sentCount: 1 });
  });

  it("takes the time from the transaction where the list has none", async () => {
    const { movements, verdict } = await investigateOne(PAID, null);
    expect(movements.volumes).to.deep.equal([
      { asset: "SOL", received: "0", sent: "5", receivedCount: 0, sentCount: 1 },
    ]);
    expect(verdict).to.equal("low");
  });
});
