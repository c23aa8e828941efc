import { type JsonFields, toJsonFields } from "../../fields.ts";
import { USDC_ON_SOLANA } from "../../intel/solana-reads.ts";
import type { Asset, Transfer } from "./transfers.ts";

/** The change of each owner's balance, in atomic units. */
type Changes = ReadonlyMap<string, bigint>;

/** The mint of wrapped SOL: the lamports of its accounts are SOL that their owners can take out at any time. */
const WRAPPED_SOL = "So11111111111111111111111111111111111111112";

/** Less SOL is mostly rent and tips. */
export const LEAST_LAMPORTS = 10_000_000n;

/**
 * Derives a wallet's transfers from the balances before and after a transaction, whichever programs moved the money.
 * Money that the wallet lost went to the accounts that gained, in proportion to their gains and at most these; and the
 * reverse. Those that gained little get what is left. Undefined when the node does not show the balances or the time.
 * @param transaction an answer of `getTransaction` (`encoding: json`). Failed ones give no transfers.
 */
export function readSolanaTransfers(
  transaction: unknown,
  wallet: string,
  { signature, blockTime }: { readonly signature: string; readonly blockTime: number | null },
): Transfer[] | undefined {
  const { meta, transaction: signed, blockTime: itsOwn } = toJsonFields(transaction);
  const facts = toJsonFields(meta);
  const keys = toKeys(signed, facts);
  const at = blockTime ?? itsOwn;
  const isShown = [facts.preBalances, facts.postBalances].every(
    (all) => Array.isArray(all) && all.length === keys.length && all.every(Number.isInteger),
  );
  const tokenChanges = toTokenChanges(facts);
  if (!isShown || !tokenChanges || !Number.isSafeInteger(at)) return undefined;
  const facing = { signature, wallet, at: at as number };
  return [
    ...toTransfers(tokenChanges, { ...facing, asset: "USDC" }),
    ...toTransfers(toCoinChanges(facts, keys, wallet), { ...facing, asset: "SOL" }),
  ];
}

interface Facing {
  readonly signature: string;
  readonly wallet: string;
  readonly at: number;
  readonly asset: Asset;
}

function toTransfers(changes: Changes, { signature, wallet, at, asset }: Facing): Transfer[] {
  const own = changes.get(wallet) ?? 0n;
  if (own === 0n) return [];
  const others = [...changes].filter(
    ([owner, change]) => owner !== wallet && change !== 0n && change > 0n !== own > 0n,
  );
  const isLittle = ([, change]: Change): boolean => asset === "SOL" && magnitude(change) < LEAST_LAMPORTS;
  const [some, little] = [others.filter((other) => !isLittle(other)), others.filter(isLittle)];
  const most = share(some, magnitude(own));
  const left = most.reduce((rest, [, units]) => rest - units, magnitude(own));
  return [...most, ...share(little, left)].map(([owner, units]) => {
    const parties = own < 0n ? { from: wallet, to: owner } : { from: owner, to: wallet };
    const id = `${signature}:${asset}:${parties.from}:${parties.to}`;
    return { id, tx: signature, ...parties, asset, units: units.toString(), at };
  });
}

type Change = readonly [owner: string, change: bigint];

/** Shares an amount out among the changes, in proportion and at most these. */
function share(changes: readonly Change[], amount: bigint): readonly Change[] {
  const total = changes.reduce((sum, [, change]) => sum + magnitude(change), 0n);
  const moved = total < amount ? total : amount;
  let counted = 0n;
  return changes
    .map(([owner, change]): Change => {
      const before = (moved * counted) / total;
      counted += magnitude(change);
      return [owner, (moved * counted) / total - before]; // The parts add up to `moved`.
    })
    .filter(([, units]) => units > 0n);
}

/**
 * Changes of USDC, by the owners of the token accounts. Undefined when one has no owner: nodes name none of what was
 * recorded before October 2021.
 */
function toTokenChanges({ preTokenBalances, postTokenBalances }: JsonFields): Changes | undefined {
  const changes = new Map<string, bigint>();
  const add = (balances: unknown, sign: bigint): boolean =>
    (Array.isArray(balances) ? balances : []).every((balance: unknown) => {
      const { mint, owner, uiTokenAmount } = toJsonFields(balance);
      const { amount } = toJsonFields(uiTokenAmount);
      if (mint !== USDC_ON_SOLANA) return true;
      if (typeof owner !== "string" || !isUnits(amount)) return false;
      changes.set(owner, (changes.get(owner) ?? 0n) + sign * BigInt(amount));
      return true;
    });
  return add(preTokenBalances, -1n) && add(postTokenBalances, 1n) ? changes : undefined;
}

/**
 * Changes of SOL by account, without the fee, which the first account pays. Of an account with more than 2^53 lamports
 * they are a lamport or two off, as JSON.parse has rounded it. What is in a token account of the wallet is the wallet's,
 * and wrapped SOL is its owner's, also where the account passes to another owner.
 */
function toCoinChanges(facts: JsonFields, keys: readonly string[], wallet: string): Changes {
  const { preBalances, postBalances, fee } = facts;
  const [all, left] = [preBalances, postBalances] as [number[], number[]]; // Checked above.
  const former = toOwners(facts.preTokenBalances, wallet);
  const latter = toOwners(facts.postTokenBalances, wallet);
  const changes = new Map<string, bigint>();
  const add = (holder: string, units: bigint): unknown => changes.set(holder, (changes.get(holder) ?? 0n) + units);
  for (const [at, key] of keys.entries()) {
    const paid = at === 0 && Number.isSafeInteger(fee) ? BigInt(fee as number) : 0n;
    // An account that is opened or closed has one owner only.
    add(former.get(at) ?? latter.get(at) ?? key, -BigInt(all[at] ?? 0));
    add(latter.get(at) ?? former.get(at) ?? key, BigInt(left[at] ?? 0) + paid);
  }
  return changes;
}

/** The owners of token accounts of the wallet and of those with wrapped SOL, by the accounts' places. */
function toOwners(balances: unknown, wallet: string): ReadonlyMap<unknown, string> {
  return new Map(
    (Array.isArray(balances) ? balances : []).map(toJsonFields).flatMap(({ accountIndex, mint, owner }) => {
      const isCounted = typeof owner === "string" && (owner === wallet || mint === WRAPPED_SOL);
      return isCounted ? [[accountIndex, owner] as const] : [];
    }),
  );
}

/** The accounts in the order of the balances: those of the message, then those of its address lookup tables. */
function toKeys(signed: unknown, { loadedAddresses }: JsonFields): string[] {
  const { accountKeys } = toJsonFields(toJsonFields(signed).message);
  const { writable, readonly } = toJsonFields(loadedAddresses);
  return [accountKeys, writable, readonly].flatMap((keys) => (Array.isArray(keys) ? keys.map(String) : []));
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
const isUnits = (value: unknown): value is string => typeof value === "string" && /^[0-9]{1,20}$/.test(value);
