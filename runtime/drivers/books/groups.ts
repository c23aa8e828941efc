import type { DatabaseSync } from "node:sqlite";
import type { BookGroup, Books, Grouping } from "../../core/books/books.ts";
import type { FeeGroup } from "../../core/books/fees.ts";
import { createBearing } from "./fees.ts";
import { packPayer, toFiltered } from "./filters.ts";
import { ATOMIC, KINDS, NANO, SUMMED, SUMMED_AGAIN, toSummed, unpackHex } from "./packing.ts";
import { UNITS } from "./schema.ts";

/** Lines are grouped by `by`, and each group gets its `name` afterwards. */
const GROUPS: Readonly<Record<Grouping, { readonly by: string; readonly name: string }>> = {
  day: { by: "at / 86400000", name: "date(grouped * 86400, 'unixepoch')" },
  service: { by: "0", name: "service" },
  payer: { by: "payer", name: `coalesce(${unpackHex("grouped")}, '')` },
  all: { by: "0", name: "''" },
};

/** Sums the lines one by one. */
export const createGroups =
  (db: DatabaseSync): Books["groups"] =>
  (filter, { own, by }) => {
    const { from, wheres, values } = toFiltered(filter);
    const isOwn = own.length === 0 ? "0" : `coalesce(payer IN (${own.map(() => "?").join(", ")}), 0)`;
    const statement = db.prepare(`
      SELECT ${GROUPS[by].name} AS "group", rail, network, asset, decimals, kind, is_own, sum(count) AS count,
        ${SUMMED_AGAIN}, sum(nano) AS nano
      FROM (
        SELECT ${GROUPS[by].by} AS grouped, terms, kind, ${isOwn} AS is_own, count(*) AS count,
          ${SUMMED}, sum(nano) AS nano
        FROM (
          SELECT l.at AS at, l.payer AS payer, terms, kind, ${ATOMIC}, ${NANO} FROM ${from}
          ${wheres.length > 0 ? `WHERE ${wheres.join(" AND ")}` : ""}
        ) GROUP BY 1, 2, 3, 4
      ) AS lines JOIN book_terms ON book_terms.id = lines.terms GROUP BY 1, 2, 3, 4, 5, 6, 7 ORDER BY 1`);
    statement.setReadBigInts(true);
    return statement.all(...own.map(packPayer), ...values).map(toGroup);
  };

/** Sums the fees of the lines that bear them. */
export function createFeeGroups(db: DatabaseSync): Books["feeGroups"] {
  const bearing = createBearing(db);
  return (filter, by) => {
    const { from, wheres, values } = toFiltered(filter);
    const paid = `SELECT id FROM book_terms WHERE network IN
      (SELECT network FROM book_fee_sums WHERE unit = ${UNITS.day})`;
    const where = [bearing, `l.terms IN (${paid})`, ...wheres].join(" AND ");
    const statement = db.prepare(`
      SELECT ${GROUPS[by].name} AS "group", fees.network, symbol, fees.decimals, ${SUMMED_AGAIN}
      FROM (
        SELECT ${GROUPS[by].by} AS grouped, terms, network, symbol, decimals, ${SUMMED}
        FROM (
          SELECT l.at AS at, l.payer AS payer, l.terms AS terms, f.network AS network, symbol, f.decimals AS decimals, giga, rest
          FROM ${from} JOIN book_terms b ON b.id = l.terms
            JOIN (SELECT tx, network, about, symbol, decimals, ${ATOMIC} FROM book_fees) f ON f.tx = l.tx AND f.network = b.network
          WHERE ${where}
        ) GROUP BY 1, 2, 3, 4, 5
      ) AS fees JOIN book_terms ON book_terms.id = fees.terms GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3`);
    statement.setReadBigInts(true);
    return statement.all(...values).map(toFeeGroup);
  };
}

function toFeeGroup(row: object): FeeGroup {
  const { tera, giga, rest, decimals, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<FeeGroup, "group" | "network" | "symbol">),
    decimals: Number(decimals),
    amount: toSummed({ tera, giga, rest }),
  };
}

function toGroup(row: object): BookGroup {
  const { count, tera, giga, rest, nano, decimals, is_own, kind, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<BookGroup, "group" | "rail" | "network" | "asset">),
    kind: KINDS[Number(kind)] as BookGroup["kind"],
    decimals: decimals === null ? null : Number(decimals),
    isOwn: is_own === 1n,
    count: Number(count),
    amount: toSummed({ tera, giga, rest }),
    nanoUsd: nano as bigint,
  };
}
