import { formatUnits } from "viem/utils";
import { tokenAt } from "./tokens.ts";

/** Arguments as viem decodes them. */
export type Values = readonly unknown[];
/** The call in words; undefined when its token is not known. */
export type Summarize = (values: Values, target: string | null, wei: bigint | null) => string | undefined;

/** Allowances of this size or more are meant to be unlimited. */
const UNLIMITED = 2n ** 159n;

/** An amount in words: `1.5 USDC`. */
export function toAmount(token: unknown, units: unknown): string | undefined {
  const known = tokenAt(token);
  return known && typeof units === "bigint" ? `${formatUnits(units, known.decimals)} ${known.symbol}` : undefined;
}

export function toAllowance(token: unknown, units: unknown): string | undefined {
  return typeof units === "bigint" && units >= UNLIMITED
    ? say(tokenAt(token)?.symbol, (symbol) => `unlimited ${symbol}`)
    : toAmount(token, units);
}

export const say = (amount: string | undefined, toText: (amount: string) => string): string | undefined =>
  amount === undefined ? undefined : toText(amount);

/** Several sentences in one; undefined when one of them is missing. */
export const sayAll = (each: readonly (string | undefined)[]): string | undefined =>
  each.length > 0 && each.every((text) => text !== undefined) ? each.join("; ") : undefined;

export const isWeth = (token: unknown): boolean => tokenAt(token)?.symbol === "WETH";
