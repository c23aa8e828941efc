/** The texts of `payphone sales` for people. */

import { withNoun } from "../../api/text.ts";
import type { BookGroup, BookLine } from "../../core/books/books.ts";
import { SIGNS } from "../../core/books/events.ts";
import { networkNameOf } from "../../core/rails/networks.ts";
import { currencyOf } from "../../core/rails/tokens.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { toColumns } from "../columns.ts";
import { printable } from "../printable.ts";
import { countOf, countSales, type GroupRow, revenueOf, toDollars } from "./groups.ts";
import { isOwn } from "./json.ts";

/** `-0.02 USDC`; in atomic units where the decimals are unknown. */
export function toAmountText(line: BookLine, rails: readonly RailManifest[]): string {
  const { amount, decimals, kind } = line;
  const sign = SIGNS[kind] < 0 ? "-" : "";
  if (decimals === null) return `${sign}${amount} atomic units`;
  return `${sign}${toDecimal(BigInt(amount), decimals)} ${currencyOf(rails, line)}`;
}

/** A heading, and one line for each line of the book. */
export function toLineTable(
  lines: readonly BookLine[],
  rails: readonly RailManifest[],
  own: readonly string[],
): string {
  const rows = lines.map((line) =>
    [
      new Date(line.at).toISOString(),
      line.kind,
      line.service,
      line.door ?? "-",
      toAmountText(line, rails),
      line.usd === null ? "-" : `$${line.usd}`,
      `${line.payer ?? "-"}${isOwn(line, own) ? " (own)" : ""}`,
      line.id,
    ].map(printable),
  );
  return toColumns([["time", "kind", "service", "door", "amount", "price", "payer", "id"], ...rows]).join("\n");
}

/** Sales, refunds and reversals in one or two sentences. */
export function toSummary(sums: readonly BookGroup[]): string {
  const counted = sums.filter(({ isOwn: own }) => !own);
  const ours = sums.filter(({ isOwn: own }) => own);
  const refunds = countOf(counted, "refund");
  const lies = countOf(counted, "reversal") - countOf(counted, "restoration");
  const parts = [
    `${withNoun(countSales(counted), "sale")}, ${withNoun(refunds, "refund")}: $${toDollars(revenueOf(counted))} revenue.`,
    ...(lies > 0 ? [`${withNoun(lies, "sale")} taken back: the chain does not show the settlement.`] : []),
    ...(ours.length > 0
      ? [`Left out: ${withNoun(countSales(ours), "sale")} to your own wallets ($${toDollars(revenueOf(ours))}).`]
      : []),
  ];
  return parts.join(" ");
}

/** A heading, and one line for each group. */
export function toGroupTable(by: string, rows: readonly GroupRow[]): string {
  const lines = rows.map(({ group, sales, refunds, revenue_usd, own_sales, received, fees }) =>
    [
      group === "" ? "-" : group,
      `${sales}`,
      `${refunds}`,
      `$${revenue_usd}`,
      `${own_sales}`,
      toList(received.map(({ rail, ...sum }) => ({ ...sum, place: rail }))),
      toList(fees.map(({ network, ...sum }) => ({ ...sum, place: networkNameOf(network) }))),
    ].map(printable),
  );
  return toColumns([[by, "sales", "refunds", "revenue", "own", "received", "fees"], ...lines]).join("\n");
}

/** A sum in one coin, and where it was taken or paid. */
interface PlacedSum {
  readonly amount: string;
  readonly currency: string;
  readonly place: string;
}

/** `0.12 USDC (base), 24 JPYC, 0.1 USDC (solana)`: the place where a coin has several. */
function toList(sums: readonly PlacedSum[]): string {
  const inCoin = Map.groupBy(sums, ({ currency }) => currency);
  const isAlone = ({ currency }: PlacedSum): boolean => inCoin.get(currency)?.length === 1;
  const texts = sums.map((sum) => `${sum.amount} ${sum.currency}${isAlone(sum) ? "" : ` (${sum.place})`}`);
  return texts.join(", ") || "-";
}
