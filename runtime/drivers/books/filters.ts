import type { SQLInputValue } from "node:sqlite";
import type { LineFilter } from "../../core/books/books.ts";

/** An amount, decimal text of any length, as the two numbers of `book_hours`. */
export const ATOMIC = `CAST(substr(amount, 1, max(length(amount) - 9, 0)) AS INTEGER) AS giga,
    CAST(substr(amount, max(length(amount) - 8, 1)) AS INTEGER) AS rest`;

/** The conditions of a filter in SQL, over `book` and its terms, and their values. */
export function toWhere(filter: LineFilter): { readonly wheres: string[]; readonly values: SQLInputValue[] } {
  const { from, to, service, rail, payer } = filter;
  const terms: readonly (readonly [sql: string, value: SQLInputValue | undefined])[] = [
    ["at >= ?", from],
    ["at < ?", to],
    ["service = ?", service],
    ["rail = ?", rail],
    ["payer = ?", payer === undefined ? undefined : toPayer(payer)],
  ];
  const given = terms.filter(([, value]) => value !== undefined);
  return { wheres: given.map(([sql]) => sql), values: given.map(([, value]) => value as SQLInputValue) };
}

/** A payer as the book has it: EVM addresses in lower case. */
const toPayer = (payer: string): string => (/^0x/i.test(payer) ? payer.toLowerCase() : payer);
