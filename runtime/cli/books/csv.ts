import { stringify } from "csv-stringify/sync";
import type { BookLine } from "../../core/books/books.ts";
import { SIGNS } from "../../core/books/events.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import type { GroupRow } from "./groups.ts";
import { isOwn } from "./json.ts";
import { explorerOf, railOfToken } from "./rails.ts";

/** What accountants import (RFC 4180): UTC times, what takes off is negative. */
export interface SalesCsv {
  readonly head: string;
  rows(lines: readonly BookLine[]): string;
}

const COLUMNS = [
  ...["time_utc", "kind", "service", "currency", "amount", "amount_atomic", "price_usd", "counterparty", "receiver"],
  ...["transaction", "transaction_url", "rail", "network", "asset", "door", "own_wallet"],
  ...["id", "sale_id", "request_id", "job_id"],
];
/** A number may begin with a minus; every other cell that a spreadsheet could run is given an apostrophe. */
const NEGATIVE = /^-\d+(?:\.\d+)?$/;

const OPTIONS = {
  record_delimiter: "windows",
  escape_formulas: true,
  cast: {
    string: (value: string) =>
      NEGATIVE.test(value) ? ({ value, escape_formulas: false } as unknown as string) : value, // As its documentation says.
  },
} as const;

export function createCsv(rails: readonly RailManifest[], own: readonly string[]): SalesCsv {
  return {
    head: stringify([COLUMNS], { record_delimiter: "windows" }),
    rows: (lines) => stringify(lines.map(toRow), OPTIONS),
  };

  /** In the order of the columns. */
  function toRow(line: BookLine): string[] {
    const { network, asset, decimals, usd, transaction } = line;
    const sign = SIGNS[line.kind] < 0 ? "-" : "";
    return [
      new Date(line.at).toISOString(),
      line.kind,
      line.service,
      railOfToken(rails, line)?.symbol ?? "",
      decimals === null ? "" : sign + toDecimal(BigInt(line.amount), decimals),
      sign + line.amount,
      usd === null ? "" : sign + usd,
      line.payer ?? "",
      line.receiver ?? "",
      transaction,
      explorerOf(rails, line) ?? "",
      line.rail,
      network,
      asset,
      line.door ?? "",
      isOwn(line, own) ? "yes" : "",
      line.id,
      line.of ?? "",
      line.requestId ?? "",
      line.job ?? "",
    ];
  }
}

/** The same for sums. */
export const createGroupCsv =
  (by: string) =>
  (rows: readonly GroupRow[]): string => {
    const columns = [by, "sales", "refunds", "revenue_usd", "own_sales", "rail", "currency", "amount", "amount_atomic"];
    const records = rows.flatMap(({ group, sales, refunds, revenue_usd, own_sales, received }) =>
      received.map(({ rail, currency, amount, atomic }, at) => ({
        ...(at === 0 && { sales, refunds, revenue_usd, own_sales }), // Once in each group, so that they can be added up.
        ...{ [by]: group, rail, currency, amount, amount_atomic: atomic },
      })),
    );
    return stringify(records, { ...OPTIONS, header: true, columns });
  };
