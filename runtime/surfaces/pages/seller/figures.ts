import { PROBLEMS, type ProblemCode } from "../../../api/problem.ts";
import type { BookSum, TallySum } from "../../../core/books/books.ts";
import type { ShopView } from "./view.ts";

/** The revenue, without payments from the seller's own wallets. Dollars are in units of 10⁻⁹. */
export interface Earned {
  /** Sales that are confirmed on the chain. */
  readonly sales: number;
  /** Revenue minus refunds. */
  readonly nano: bigint;
  readonly refunds: number;
  readonly refundedNano: bigint;
  /** Payments from the seller's own wallets that still count, which the other figures leave out. */
  readonly own: number;
}

export function toEarned(sums: readonly BookSum[]): Earned {
  const of = (kind: BookSum["kind"], isOwn = false): { count: number; nano: bigint } => {
    const found = sums.filter((sum) => sum.kind === kind && sum.isOwn === isOwn);
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
    own: of("sale", true).count - of("reversal", true).count + of("restoration", true).count,
  };
}

/** Dollars for people: whole cents from a hundred dollars on; below, up to four decimals, or three significant digits. */
export function toUsd(nano: bigint): string {
  const sign = nano < 0n ? "-" : "";
  const value = Number(nano < 0n ? -nano : nano) / 1e9;
  if (value === 0) return "$0";
  const shown = value < 0.01 ? Number(value.toPrecision(3)) : value;
  const maximumFractionDigits = value >= 100 ? 2 : value < 0.01 ? 9 : 4;
  return `${sign}$${shown.toLocaleString("en-US", { minimumFractionDigits: 2, maximumFractionDigits })}`;
}

/** The decimal text of a price or an amount as dollars; `?` when unknown. */
export const toUsdText = (usd: string | null): string => (usd === null ? "?" : `$${usd}`);

export const toCount = (count: number): string => count.toLocaleString("en-US");

/** A share in per cent; a dash when the whole is 0. */
export function toShare(part: number, whole: number): string {
  if (whole <= 0) return "–";
  const percent = (100 * part) / whole;
  return `${Math.abs(percent) >= 10 || percent === 0 ? Math.round(percent) : percent.toPrecision(2)} %`;
}

/** In place of a service or a rail, for calls that were over before they named one. */
export const NONE_NAMED = "none named yet";

/** `2026-05-01 12:34:56`, in UTC. */
export const toTime = (at: number): string => new Date(at).toISOString().slice(0, 19).replace("T", " ");

/** Counts of a span, by what was counted. */
export function countsOf(tallies: readonly TallySum[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { what, count } of tallies) counts.set(what, (counts.get(what) ?? 0) + count);
  return counts;
}

/** Leaves out calls that were asked to sign in to a free service: they were told no price. */
export const withoutSignIns = (tallies: readonly TallySum[], services: ShopView["services"]): readonly TallySum[] => {
  const free = new Set(services.flatMap(({ id, price }) => (price === undefined ? [id] : [])));
  return tallies.filter(({ service, what }) => what !== "challenge" || !free.has(service));
};

/** The sum of all counts whose name begins with a word, such as `failed:`. */
export const sumOf = (counts: ReadonlyMap<string, number>, word: string): number =>
  [...counts].reduce((all, [what, count]) => (what.startsWith(word) ? all + count : all), 0);

const FAILED = "failed:";

/**
 * The calls that ended with a problem: `failed` on the shop's side (HTTP 5xx), and `turnedAway` for what they asked or who
 * asked (4xx), which says nothing about the service.
 */
export function toProblems(counts: ReadonlyMap<string, number>): {
  readonly failed: number;
  readonly turnedAway: number;
} {
  const ours = new Map([...counts].filter(([what]) => statusOf(what.slice(FAILED.length)) >= 500));
  const failed = sumOf(ours, FAILED);
  return { failed, turnedAway: sumOf(counts, FAILED) - failed };
}

const statusOf = (code: string): number => (code in PROBLEMS ? PROBLEMS[code as ProblemCode].status : 500);

/** How a call ends; every call has exactly one of these. */
const ENDS = /^(?:challenge|result|free|replay|early|left|refused:.*|failed:.*)$/;

/** The number of all calls: unpaid, answered and failed. */
export const toCalls = (counts: ReadonlyMap<string, number>): number =>
  [...counts].reduce((all, [what, count]) => (ENDS.test(what) ? all + count : all), 0);

/**
 * A quantile of the call durations, as text: the upper bound of its bucket; a dash when there were no calls. @param
 * part for instance 0.95
 */
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
