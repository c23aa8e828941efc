import type { BookGroup } from "../../core/books/books.ts";
import { SIGNS } from "../../core/books/events.ts";
import type { FeeGroup } from "../../core/books/fees.ts";
import { currencyOf, railOfToken } from "../../core/rails/tokens.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";

/** The sums of one group. Payments from the seller's own wallets are counted apart, and are in no other sum. */
export interface GroupRow {
  readonly group: string;
  /** Settled payments that still count. */
  readonly sales: number;
  readonly refunds: number;
  /** US dollars: sales minus refunds. */
  readonly revenue_usd: string;
  readonly own_sales: number;
  /** Amounts received minus refunds, by token. */
  readonly received: readonly Received[];
  /** What the treasury paid to chains, by network: for own wallets' payments, too. */
  readonly fees: readonly PaidFee[];
}

/** Fees in a chain's own coin. */
export interface PaidFee {
  /** CAIP-2. */
  readonly network: string;
  readonly currency: string;
  /** Decimal text. */
  readonly amount: string;
  readonly atomic: string;
}

export interface Received {
  readonly rail: string;
  readonly currency: string;
  /** Decimal text; the atomic amount where the decimals are unknown. */
  readonly amount: string;
  readonly atomic: string;
}

const USD_DECIMALS = 9;
const DAY = /^\d{4}-\d\d-\d\d$/;

/** Sums by group. A group of fees alone comes last; days stay in order. */
export function toGroupRows(
  sums: readonly BookGroup[],
  fees: readonly FeeGroup[],
  rails: readonly RailManifest[],
): GroupRow[] {
  const groups = Map.groupBy(sums, ({ group }) => group);
  const feesOf = Map.groupBy(fees, ({ group }) => group);
  const names = [...new Set([...groups.keys(), ...feesOf.keys()])];
  if (names.every((name) => DAY.test(name))) names.sort();
  return names.map((group) => {
    const inside = groups.get(group) ?? [];
    const counted = inside.filter(({ isOwn }) => !isOwn);
    return {
      group,
      sales: countSales(counted),
      refunds: countOf(counted, "refund"),
      revenue_usd: toDollars(revenueOf(counted)),
      own_sales: countSales(inside.filter(({ isOwn }) => isOwn)),
      received: toReceived(counted, rails),
      fees: toPaid(feesOf.get(group) ?? []),
    };
  });
}

export const countOf = (sums: readonly BookGroup[], kind: BookGroup["kind"]): number =>
  sums.filter((sum) => sum.kind === kind).reduce((total, { count }) => total + count, 0);

/** The number of sales that were not reversed. */
export const countSales = (sums: readonly BookGroup[]): number =>
  countOf(sums, "sale") - countOf(sums, "reversal") + countOf(sums, "restoration");

/** The revenue in units of 10⁻⁹ dollars. */
export const revenueOf = (sums: readonly BookGroup[]): bigint =>
  sums.reduce((total, { kind, nanoUsd }) => total + nanoUsd * BigInt(SIGNS[kind]), 0n);

/** Decimal text; negative when refunds exceed sales. */
export const toDollars = (nano: bigint): string => toSigned(nano, USD_DECIMALS);

/** Decimal text, also of less than nothing. */
export const toSigned = (atomic: bigint, decimals: number): string =>
  atomic < 0n ? `-${toDecimal(-atomic, decimals)}` : toDecimal(atomic, decimals);

function toReceived(sums: readonly BookGroup[], rails: readonly RailManifest[]): Received[] {
  const byToken = Map.groupBy(sums, ({ network, asset }) => `${network} ${asset.toLowerCase()}`);
  return [...byToken.values()].map((inside) => {
    const { network, asset } = inside[0] as BookGroup;
    const rail = railOfToken(rails, { network, asset });
    const decimals = inside.find((sum) => sum.decimals !== null)?.decimals ?? rail?.decimals ?? 0;
    const atomic = inside.reduce((total, { kind, amount }) => total + amount * BigInt(SIGNS[kind]), 0n);
    const currency = currencyOf(rails, { network, asset });
    return { rail: rail?.id ?? inside[0]!.rail, currency, amount: toSigned(atomic, decimals), atomic: `${atomic}` };
  });
}

function toPaid(fees: readonly FeeGroup[]): PaidFee[] {
  const byCoin = Map.groupBy(fees, ({ network, symbol }) => `${network} ${symbol}`);
  return [...byCoin.values()].map((inside) => {
    const { network, symbol, decimals } = inside[0] as FeeGroup;
    const atomic = inside.reduce((total, { amount }) => total + amount, 0n);
    return { network, currency: symbol, amount: toDecimal(atomic, decimals), atomic: `${atomic}` };
  });
}
