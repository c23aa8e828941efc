import { stringify } from "csv-stringify/sync";
import type { BookLine } from "../../core/books/books.ts";
import { SIGNS } from "../../core/books/events.ts";
import { type BookFee, feeId } from "../../core/books/fees.ts";
import { currencyOf, explorerOf } from "../../core/rails/tokens.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import type { GroupRow } from "./groups.ts";

/** Writes CSV for accounting software (RFC 4180). Times are in UTC; refunds and reversals are negative. */
export interface SalesCsv {
  readonly head: string;
  /**
   * @param fees of these lines, by `seq`. @param lone fees that belong to no line, oldest first. A fee is written before a line
   *   of the same time.
   */
  rows(lines: readonly BookLine[], fees: ReadonlyMap<number, BookFee>, lone: readonly BookFee[]): string;
}

const COLUMNS = [
  "time_utc",
  "kind",
  "service",
  "currency",
  "amount",
  "amount_atomic",
  "price_usd",
  "counterparty",
  "receiver",
  "transaction",
  "transaction_url",
  "rail",
  "network",
  "asset",
  "door",
  "own_wallet",
  "id",
  "sale_id",
  "request_id",
  "job_id",
  "fee",
  "fee_atomic",
  "fee_currency",
  "fee_for",
];
/**
 * Negative numbers are written unchanged. Any other cell that a spreadsheet would run as a formula gets an apostrophe.
 */
const NEGATIVE = /^-\d+(?:\.\d+)?$/;

const OPTIONS = {
  record_delimiter: "windows",
  quote_record_delimiter: true, // A lone line break would end the row, too.
  escape_formulas: true,
  cast: {
    string: (value: string) =>
      // The library documents this form.
      NEGATIVE.test(value) ? ({ value, escape_formulas: false } as unknown as string) : value,
  },
} as const;

/** Text that needs neither quotes nor an apostrophe. */
const PLAIN = "(?:[0-9A-Za-z][\\w.:/-]*|-\\d+(?:\\.\\d+)?)?";
const PLAIN_CELL = new RegExp(`^${PLAIN}$`);
const PLAIN_ROW = new RegExp(`^(?:${PLAIN},){${COLUMNS.length - 1}}${PLAIN}$`);

/** Plain rows, and plain cells of other rows, skip the library, which is slow. */
function toText(cells: readonly string[]): string {
  const row = cells.join(",");
  return `${PLAIN_ROW.test(row) ? row : cells.map(toCell).join(",")}\r\n`;
}

const toCell = (text: string): string =>
  PLAIN_CELL.test(text) ? text : stringify([[text]], OPTIONS).slice(0, -"\r\n".length);

export function createCsv(rails: readonly RailManifest[], own: readonly string[]): SalesCsv {
  const isOurs = new Set(own);
  const symbolOf = remember((line: BookLine) => currencyOf(rails, line), toToken);
  const decimalOf = remember(
    ({ amount, decimals }: BookLine) => (decimals === null ? "" : toDecimal(BigInt(amount), decimals)),
    ({ amount, decimals }) => `${amount} ${decimals}`,
  );
  return {
    head: stringify([COLUMNS], { record_delimiter: "windows" }),
    rows(lines, fees, lone) {
      let seen = 0;
      let text = "";
      for (const line of lines) {
        for (; seen < lone.length && (lone[seen] as BookFee).at <= line.at; seen += 1)
          text += toText(toFeeRow(lone[seen] as BookFee));
        const fee = fees.get(line.seq);
        text += toText(fee ? [...toRow(line), ...toFeeCells(fee)] : [...toRow(line), ...NO_FEE]);
      }
      return lone.slice(seen).reduce((all, fee) => all + toText(toFeeRow(fee)), text);
    },
  };

  /** The cells of a line, in the order of the columns. */
  function toRow(line: BookLine): string[] {
    const { network, asset, decimals, usd, payer, transaction } = line;
    const sign = SIGNS[line.kind] < 0 ? "-" : "";
    return [
      new Date(line.at).toISOString(),
      line.kind,
      line.service,
      symbolOf(line),
      decimals === null ? "" : sign + decimalOf(line),
      sign + line.amount,
      usd === null ? "" : sign + usd,
      payer ?? "",
      line.receiver ?? "",
      transaction,
      explorerOf(rails, line) ?? "",
      line.rail,
      network,
      asset,
      line.door ?? "",
      payer !== null && isOurs.has(payer) ? "yes" : "",
      line.id,
      line.of ?? "",
      line.requestId ?? "",
      line.job ?? "",
    ];
  }

  /** A fee that belongs to no line, as a row without an amount. */
  function toFeeRow(fee: BookFee): string[] {
    const { at, transaction, network } = fee;
    const place = [transaction, explorerOf(rails, fee) ?? "", "", network];
    const head = [new Date(at).toISOString(), "fee", ...Array.from({ length: 7 }, () => ""), ...place, "", "", ""];
    return [...head, feeId(fee), "", "", "", ...toFeeCells(fee)];
  }
}

const NO_FEE: readonly string[] = ["", "", "", ""];

function toFeeCells({ amount, decimals, symbol, purpose, isReverted }: BookFee): string[] {
  return [toDecimal(BigInt(amount), decimals), amount, symbol, isReverted ? `${purpose} (reverted)` : purpose];
}

const toToken = ({ network, asset }: BookLine): string => `${network} ${asset}`;
const MOST_REMEMBERED = 1000;

/** Caches texts by a key that many lines share. */
function remember(answer: (line: BookLine) => string, keyOf: (line: BookLine) => string): (line: BookLine) => string {
  const known = new Map<string, string>();
  return (line) => {
    const key = keyOf(line);
    const text = known.get(key) ?? answer(line);
    if (known.size < MOST_REMEMBERED) known.set(key, text);
    return text;
  };
}

const GROUP_COLUMNS = ["sales", "refunds", "revenue_usd", "own_sales", "rail", "currency", "amount", "amount_atomic"];
const GROUP_FEES = ["fee", "fee_atomic", "fee_currency", "fee_network"];

/** Writes the sums of groups as CSV. A group has a row for each token, and for each coin that fees were paid in. */
export const createGroupCsv =
  (by: string): ((rows: readonly GroupRow[]) => string) =>
  (rows) => {
    const columns = [by, ...GROUP_COLUMNS, ...GROUP_FEES];
    const records = rows.flatMap(({ group, sales, refunds, revenue_usd, own_sales, received, fees }) =>
      Array.from({ length: Math.max(received.length, fees.length, 1) }, (_, at) => {
        const [token, fee] = [received[at], fees[at]];
        return {
          [by]: group,
          // Only in the group's first row, so that the column can be added up.
          ...(at === 0 && { sales, refunds, revenue_usd, own_sales }),
          ...(token && { ...token, amount_atomic: token.atomic }),
          ...(fee && { fee: fee.amount, fee_atomic: fee.atomic, fee_currency: fee.currency, fee_network: fee.network }),
        };
      }),
    );
    return stringify(records, { ...OPTIONS, header: true, columns });
  };
