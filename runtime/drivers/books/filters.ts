import type { SQLInputValue } from "node:sqlite";
import type { LineFilter } from "../../core/books/books.ts";
import { packHex } from "./packing.ts";

/** Conditions in SQL, and their values. */
export interface Where {
  readonly wheres: readonly string[];
  readonly values: readonly SQLInputValue[];
}

/** The lines of a filter: a FROM of `book_lines l`, with `t.at` and `t.seq` in order. */
export interface Filtered extends Where {
  readonly from: string;
}

/** What a filter asks for. */
export function toFiltered(filter: LineFilter): Filtered {
  const { from, to, payer } = filter;
  const where = toWhere([
    ["t.at >= ?", from],
    ["t.at < ?", to],
    ["t.payer = (SELECT id FROM book_payers WHERE payer = ?)", payer === undefined ? undefined : packPayer(payer)],
  ]);
  const terms = toTermsWhere(filter, "l.terms");
  return {
    from: `${payer === undefined ? "book_times" : "book_bought"} t JOIN book_lines l ON l.seq = t.seq`,
    wheres: [...where.wheres, ...terms.wheres],
    values: [...where.values, ...terms.values],
  };
}

/** The conditions of a filter about terms. */
export const toTermsWhere = ({ service, rail }: LineFilter, column: string): Where =>
  toWhere([
    [`${column} IN (SELECT id FROM book_terms WHERE service = ?)`, service],
    [`${column} IN (SELECT id FROM book_terms WHERE rail = ?)`, rail],
  ]);

function toWhere(conditions: readonly (readonly [sql: string, value: SQLInputValue | undefined])[]): Where {
  const given = conditions.filter(([, value]) => value !== undefined);
  return { wheres: given.map(([sql]) => sql), values: given.map(([, value]) => value as SQLInputValue) };
}

/** A payer as the book has it: EVM addresses in lower case. */
export const packPayer = (payer: string): SQLInputValue => packHex(/^0x/i.test(payer) ? payer.toLowerCase() : payer);
