import type { DatabaseSync } from "node:sqlite";
import type { BookGroup, Books, Grouping } from "../../core/books/books.ts";
import { ATOMIC, toWhere } from "./filters.ts";
import { GIGA } from "./tables.ts";

const GROUPS: Readonly<Record<Grouping, string>> = {
  day: "date(at / 1000, 'unixepoch')",
  service: "service",
  payer: "coalesce(payer, '')",
  all: "''",
};

/** Sums the lines themselves, one by one. */
export const createGroups =
  (db: DatabaseSync): Books["groups"] =>
  (filter, { own, by }) => {
    const { wheres, values } = toWhere(filter);
    const isOwn = own.length === 0 ? "0" : `coalesce(payer IN (${own.map(() => "?").join(", ")}), 0)`;
    const statement = db.prepare(`
      SELECT grouped AS "group", rail, network, asset, decimals, kind, is_own, count(*) AS count,
        sum(giga) AS giga, sum(rest) AS rest, sum(nano) AS nano
      FROM (
        SELECT ${GROUPS[by]} AS grouped, rail, network, asset, decimals, kind, ${isOwn} AS is_own, ${ATOMIC},
          coalesce(nano, 0) AS nano
        FROM book JOIN book_terms ON book_terms.id = book.terms
        ${wheres.length > 0 ? `WHERE ${wheres.join(" AND ")}` : ""}
      ) GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1`);
    statement.setReadBigInts(true);
    return statement.all(...own, ...values).map(toGroup);
  };

function toGroup(row: object): BookGroup {
  const { count, giga, rest, nano, decimals, is_own, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<BookGroup, "group" | "rail" | "network" | "asset" | "kind">),
    decimals: decimals === null ? null : Number(decimals),
    isOwn: is_own === 1n,
    count: Number(count),
    amount: (giga as bigint) * GIGA + (rest as bigint),
    nanoUsd: nano as bigint,
  };
}
