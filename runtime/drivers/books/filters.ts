import type { SQLInputValue } from "node:sqlite";
import { toAccount } from "../../core/account.ts";
import type { LineFilter } from "../../core/books/books.ts";
import { packHex } from "./packing.ts";

/** SQL conditions and their values. */
export interface Where {
  readonly wheres: readonly string[];
  readonly values: readonly SQLInputValue[];
}

/** The lines that match a filter: a FROM clause with `book_lines l`, and `t.at` and `t.seq` for the order. */
export interface Filtered extends Where {
  readonly from: string;
}

/** Translates a filter into SQL. */
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

/** The conditions on a line's terms. They are looked up line by line: an hour has few lines, and a book may have many terms. */
export const toTermsWhere = ({ service, rail }: LineFilter, column: string): Where =>
  toWhere([
    [`(SELECT service FROM book_terms WHERE id = ${column}) = ?`, service],
    [`(SELECT rail FROM book_terms WHERE id = ${column}) = ?`, rail],
  ]);

function toWhere(conditions: readonly (readonly [sql: string, value: SQLInputValue | undefined])[]): Where {
  const given = conditions.filter(([, value]) => value !== undefined);
  return { wheres: given.map(([sql]) => sql), values: given.map(([, value]) => value as SQLInputValue) };
}

/** A payer in the form of the book: EVM addresses in lower case. */
export const packPayer = (payer: string): SQLInputValue => packHex(toAccount(payer));
