import { type Fields, toFields } from "../../fields.ts";
import { USDC_ON_SOLANA } from "../../intel/solana-reads.ts";
import type { Asset, Transfer } from "./transfers.ts";

/** By how much a transaction has changed what an owner holds, in atomic units. */
type Changes = ReadonlyMap<string, bigint>;

/** Less than this many lamports is rent or a tip, and says nothing about who deals with whom. */
const LEAST_LAMPORTS = 10_000_000n;

/**
 * What a wallet sent and received in one transaction, by the balances before and after it: what the wallet lost went to
 * those who gained, each at most what it gained. That holds whichever programs have moved the money.
 * @param transaction as `getTransaction` answers it (`encoding: json`); one of another form has moved nothing, as has one that failed.
 */
export function readSolanaTransfers(
  transaction: unknown,
  wallet: string,
  { signature, blockTime }: { readonly signature: string; readonly blockTime: number | null },
): Transfer[] {
  const { meta, transaction: signed } = toFields(transaction);
  const facts = toFields(meta);
  if (blockTime === null) return [];
  const facing = { signature, wallet, at: blockTime };
  return [
    ...toTransfers(toTokenChanges(facts), { ...facing, asset: "USDC" }),
    ...toTransfers(toCoinChanges(facts, toKeys(signed, facts)), { ...facing, asset: "SOL" }),
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
  return others.map(([owner, change]) => {
    const units = (magnitude(change) < magnitude(own) ? magnitude(change) : magnitude(own)).toString();
    const parties = own < 0n ? { from: wallet, to: owner } : { from: owner, to: wallet };
    return { id: `${signature}:${asset}:${parties.from}:${parties.to}`, tx: signature, ...parties, asset, units, at };
  });
}

/** USDC by the owners of its accounts. */
function toTokenChanges({ preTokenBalances, postTokenBalances }: Fields): Changes {
  const changes = new Map<string, bigint>();
  const add = (balances: unknown, sign: bigint): void => {
    for (const balance of Array.isArray(balances) ? balances : []) {
      const { mint, owner, uiTokenAmount } = toFields(balance);
      const { amount } = toFields(uiTokenAmount);
      if (mint !== USDC_ON_SOLANA || typeof owner !== "string" || !isUnits(amount)) continue;
      changes.set(owner, (changes.get(owner) ?? 0n) + sign * BigInt(amount));
    }
  };
  add(preTokenBalances, -1n);
  add(postTokenBalances, 1n);
  return changes;
}

/** SOL by account, without the fee, which the first account has paid, and without changes that are no payments. */
function toCoinChanges({ preBalances, postBalances, fee }: Fields, keys: readonly string[]): Changes {
  if (!Array.isArray(preBalances) || !Array.isArray(postBalances)) return new Map();
  const changes = keys.map((key, at): [string, bigint] => {
    const [before, after] = [preBalances[at], postBalances[at]];
    if (!Number.isSafeInteger(before) || !Number.isSafeInteger(after)) return [key, 0n];
    return [key, BigInt(after) - BigInt(before) + (at === 0 && Number.isSafeInteger(fee) ? BigInt(fee as number) : 0n)];
  });
  return new Map(changes.filter(([, change]) => magnitude(change) >= LEAST_LAMPORTS));
}

/** The accounts in the order of the balances: those of the message, and then those of its address tables. */
function toKeys(signed: unknown, { loadedAddresses }: Fields): string[] {
  const { accountKeys } = toFields(toFields(signed).message);
  const { writable, readonly } = toFields(loadedAddresses);
  return [accountKeys, writable, readonly].flatMap((keys) => (Array.isArray(keys) ? keys.map(String) : []));
}

const magnitude = (value: bigint): bigint => (value < 0n ? -value : value);
const isUnits = (value: unknown): value is string => typeof value === "string" && /^[0-9]{1,20}$/.test(value);
