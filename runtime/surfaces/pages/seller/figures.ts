import type { BookSum, TallySum } from "../../../core/books/books.ts";

/** What was earned, without what the seller paid itself. Dollars in thousand-millionths. */
export interface Earned {
  /** Sales that the chain shows. */
  readonly sales: number;
  /** Less what was paid back. */
  readonly nano: bigint;
  readonly refunds: number;
  readonly refundedNano: bigint;
  /** Payments of the seller's own wallets, which are in none of the others. */
  readonly own: number;
}

export function toEarned(sums: readonly BookSum[]): Earned {
  const of = (kind: BookSum["kind"]): { count: number; nano: bigint } => {
    const found = sums.filter((sum) => sum.kind === kind && !sum.isOwn);
    return {
      count: found.reduce((all, sum) => all + sum.count, 0),
      nano: found.reduce((all, sum) => all + sum.nanoUsd, 0n),
    };
  };
  const [sale, refund, reversal, restoration] = [of("sale"), of("refund"), of("reversal"), of("restoration")];
  return {
    sales: sale.count - reversal.count + restoration.count,
    nano: sale.nano - reversal.nano + restoration.nano - refund.nano,
    refunds: refund.count,
    refundedNano: refund.nano,
    own: sums.filter(({ kind, isOwn }) => isOwn && kind === "sale").reduce((all, sum) => all + sum.count, 0),
  };
}

/** Dollars for people: cents from a dollar on, else as many digits as say something. */
export function toUsd(nano: bigint): string {
  const sign = nano < 0n ? "-" : "";
  const value = Number(nano < 0n ? -nano : nano) / 1e9;
  if (value === 0) return "$0";
  if (value >= 1)
    return `${sign}$${value.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits: 2 })}`;
  return `${sign}$${Number(value.toPrecision(3))}`;
}

/** A price or an amount of a line, decimal text. */
export const toUsdText = (usd: string | null): string => (usd === null ? "?" : `$${usd}`);

export const toCount = (count: number): string => count.toLocaleString("en-US");

/** A part of a whole in per cent; a dash where there is no whole. */
export function toShare(part: number, whole: number): string {
  if (whole <= 0) return "–";
  const percent = (100 * part) / whole;
  return `${percent >= 10 || percent === 0 ? Math.round(percent) : percent.toPrecision(2)} %`;
}

/** `2026-05-01 12:34:56`, in UTC. */
export const toTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ");

/** What was counted in a span, by what. */
export function countsOf(tallies: readonly TallySum[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { what, count } of tallies) counts.set(what, (counts.get(what) ?? 0) + count);
  return counts;
}

/** The sum of what begins with a word: `failed:`. */
export const sumOf = (counts: ReadonlyMap<string, number>, word: string): number =>
  [...counts].reduce((all, [what, count]) => (what.startsWith(word) ? all + count : all), 0);

/** How a call ends, one of these for each. */
const ENDS = /^(?:challenge|result|free|replay|early|left|refused:.*|failed:.*)$/;

/** All calls: those that asked the price, those that were answered, and those that were not. */
export const toCalls = (counts: ReadonlyMap<string, number>): number =>
  [...counts].reduce((all, [what, count]) => (ENDS.test(what) ? all + count : all), 0);

/** The bound in milliseconds under which so great a part of the calls stay, as text; a dash where there were none. */
export function toQuantile(counts: ReadonlyMap<string, number>, part: number): string {
  const buckets = [...counts]
    .filter(([what]) => what.startsWith("ms:"))
    .map(([what, count]) => ({ bound: what === "ms:inf" ? Number.POSITIVE_INFINITY : Number(what.slice(3)), count }))
    .sort((one, other) => one.bound - other.bound);
  const all = buckets.reduce((sum, { count }) => sum + count, 0);
  let seen = 0;
  for (const { bound, count } of buckets) {
    seen += count;
    if (seen < all * part) continue;
    if (bound === Number.POSITIVE_INFINITY) return "> 60 s";
    return bound >= 1000 ? `≤ ${bound / 1000} s` : `≤ ${bound} ms`;
  }
  return "–";
}
