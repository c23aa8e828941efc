import { expect } from "chai";
import fc from "fast-check";
import { USDC_ON_SOLANA } from "../../../../plugins/wallet/intel/solana-reads.ts";
import { withoutNoise } from "../../../../plugins/wallet/investigate/collection/noise.ts";
import { readSolanaTransfers } from "../../../../plugins/wallet/investigate/sources/solana-transfers.ts";
import type { Transfer } from "../../../../plugins/wallet/investigate/sources/transfers.ts";

/** The transfers of `wallet` in a transaction that changed the owners' USDC so. */
function read(changes: Readonly<Record<string, bigint>>): Transfer[] {
  const held = 10n ** 15n;
  const toBalances = (amountOf: (change: bigint) => bigint): object[] =>
    Object.entries(changes).map(([owner, change]) => ({
      mint: USDC_ON_SOLANA,
      owner,
      uiTokenAmount: { amount: String(amountOf(change)) },
    }));
  const meta = { preTokenBalances: toBalances(() => held), postTokenBalances: toBalances((change) => held + change) };
  const balances = { preBalances: [], postBalances: [] };
  const transaction = { meta: { ...meta, ...balances }, transaction: { message: { accountKeys: [] } } };
  return readSolanaTransfers(transaction, "wallet", { signature: "s", blockTime: 1 }) ?? [];
}

type Tokens = Readonly<Record<string, readonly [mint: string, owner: string | undefined]>>;

const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((total, amount) => total + amount, 0n);

describe("the transfers in a Solana transaction", () => {
  it("are whole where one pays several, or several pay one", () => {
    const paid = read({ wallet: -10_000_000n, shop: 9_900_000n, fee: 100_000n });
    expect(paid.map(({ from, to, units }) => [from, to, units])).to.deep.equal([
      ["wallet", "shop", "9900000"],
      ["wallet", "fee", "100000"],
    ]);
    expect(read({ employer: -100n, wallet: 5n, colleague: 95n }).map(({ units }) => units)).to.deep.equal(["5"]);
  });

  it("are shared out where several pay several", () => {
    const received = read({ one: -10n, other: -10n, market: 15n, wallet: 5n });
    expect(received.map(({ from, units }) => [from, units])).to.deep.equal([
      ["one", "2"],
      ["other", "3"],
    ]);
  });

  it("add up to what the wallet has gained or lost, as far as others have lost or gained it", () => {
    const change = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
    fc.assert(
      fc.property(change, fc.array(change, { maxLength: 6 }), (own, others) => {
        const changes = { wallet: own, ...Object.fromEntries(others.map((each, at) => [`other${at}`, each])) };
        const against = sum(others.filter((each) => each > 0n !== own > 0n).map((each) => (each < 0n ? -each : each)));
        const size = own < 0n ? -own : own;
        const moved = own === 0n ? 0n : against < size ? against : size;
        const transfers = read(changes);
        expect(sum(transfers.map(({ units }) => BigInt(units)))).to.equal(moved);
        for (const { units } of transfers) expect(units).not.to.equal("0");
      }),
    );
  });

  /**
   * The SOL that left the wallet, by whom it went to, in a transaction that changed the accounts so.
   * @param tokens the mint and the owner of those that are token accounts
   * @param former the same before the transaction
   */
  function readCoins(
    changes: Readonly<Record<string, number>>,
    tokens: Tokens = {},
    former: Tokens = {},
  ): (readonly [string, string])[] {
    const keys = Object.keys(changes);
    const balances = { preBalances: keys.map(() => 1e12), postBalances: Object.values(changes).map((by) => 1e12 + by) };
    const toBalances = (all: Tokens): object[] =>
      Object.entries(all).map(([key, [mint, owner]]) => {
        return { accountIndex: keys.indexOf(key), mint, ...(owner && { owner }), uiTokenAmount: { amount: "1" } };
      });
    const held = { preTokenBalances: toBalances(former), postTokenBalances: toBalances(tokens) };
    const meta = { fee: 5000, ...balances, ...held };
    const transaction = { meta, transaction: { message: { accountKeys: keys } } };
    const transfers = readSolanaTransfers(transaction, "wallet", { signature: "s", blockTime: 1 }) ?? [];
    return transfers.map(({ to, units }) => [to, units]);
  }

  it("tell small sums, too, and leave large ones as they are", () => {
    expect(readCoins({ wallet: -9_005_000, listed: 9_000_000 })).to.deep.equal([["listed", "9000000"]]);
    expect(readCoins({ wallet: -5e9 - 9_005_000, shop: 5e9, listed: 9_000_000 })).to.deep.equal([
      ["shop", "5000000000"],
      ["listed", "9000000"],
    ]);
    expect(readCoins({ wallet: -5e9 - 5000, shop: 5e9, rent: 2_039_280, other: -2_039_280 })).to.deep.equal([
      ["shop", "5000000000"],
    ]);
  });

  it("are with the owners of wrapped SOL, and none with the wallet's own token accounts", () => {
    const wrapped = "So11111111111111111111111111111111111111112";
    const own = { own: [wrapped, "wallet"] } as const;
    expect(readCoins({ wallet: -5e9 - 5000, own: 5e9 }, own), "it wraps").to.deep.equal([]);
    expect(readCoins({ wallet: -5000, own: -5e9, vault: 5e9 }, { ...own, vault: [wrapped, "listed"] })).to.deep.equal([
      ["listed", "5000000000"],
    ]);
    const opened = { usdc: ["other", "wallet"], theirs: ["other", "shop"] } as const;
    expect(readCoins({ wallet: -9e7 - 5000, usdc: 3e7, theirs: 6e7 }, opened), "of another token").to.deep.equal([
      ["theirs", "60000000"],
    ]);
    expect(readCoins({ wallet: -5e9 - 5000, vault: 5e9 }, { vault: [wrapped, undefined] }), "in 2021").to.deep.equal([
      ["vault", "5000000000"],
    ]);
  });

  it("are those of wrapped SOL whose account is given to another owner", () => {
    const wrapped = "So11111111111111111111111111111111111111112";
    const [ours, theirs] = [{ gift: [wrapped, "wallet"] }, { gift: [wrapped, "listed"] }] as const;
    expect(readCoins({ wallet: -5000, gift: 0 }, theirs, ours)).to.deep.equal([["listed", "1000000000000"]]);
    expect(readCoins({ wallet: -5000, gift: -5e9, listed: 5e9 }, ours, theirs), "their SOL").to.deep.equal([
      ["wallet", "995000000000"],
    ]);
    expect(readCoins({ wallet: 1e12 - 5000, gift: -1e12 }, {}, ours), "it unwraps").to.deep.equal([]);
  });

  it("count when they come to something, or are a sanctioned address's", async () => {
    const toTransfer = (to: string, units: number, at: number): Transfer => {
      return { id: `${to} ${at}`, tx: `${at}`, from: "wallet", to, asset: "SOL", units: String(units), at };
    };
    const transfers = [
      toTransfer("rent", 2_039_280, 1),
      toTransfer("often", 9_000_000, 2),
      toTransfer("listed", 1, 3),
      toTransfer("often", 1_000_000, 4),
      { ...toTransfer("rent", 1, 5), asset: "USDC" as const },
    ];
    const kept = await withoutNoise("wallet", transfers, async (address) => address === "listed");
    expect(kept.map(({ at }) => at)).to.deep.equal([2, 3, 4, 5]);
  });
});
