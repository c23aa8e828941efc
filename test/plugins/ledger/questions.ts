import { toTime, WALLET } from "./base-node.ts";

/** The newest block of the tests' node. */
export const NEWEST = 40_000_000;
/** The time of a block of Base. */
export const toIso = (block: number): string => new Date(toTime(block) * 1000).toISOString();

/** From one block to another. */
export const between = (first: number, last: number): object => ({
  wallet: WALLET,
  from: toIso(first),
  to: new Date(toTime(last) * 1000 + 1000).toISOString(),
});

/** What tests look at in a summary. */
export interface Answer {
  readonly range: {
    readonly from: string;
    readonly to: string;
    readonly from_block: number;
    readonly to_block: number;
  };
  readonly totals: Readonly<Record<string, unknown>>;
  readonly groups: readonly Readonly<Record<string, string | number>>[];
  readonly daily: readonly { readonly date: string; readonly usdc: string; readonly tx_count: number }[];
  readonly granularity: string;
}

/** Exact. @param usdc decimal text. */
export function toMillionths(usdc: string): bigint {
  const [whole = "", fraction = ""] = usdc.split(".");
  return BigInt(whole + fraction.padEnd(6, "0"));
}
