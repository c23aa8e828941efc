import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { BookSum, Books, Span, Split } from "../../core/books/books.ts";
import { ATOMIC } from "./filters.ts";
import { DAY_MS, GIGA, HOUR_MS } from "./tables.ts";

const SPLITS: readonly Split[] = ["service", "door", "rail"];

/** Sums what was summed up by hours and days; own wallets' lines are summed one by one. */
export function createSums(db: DatabaseSync): Books["sums"] {
  return (wanted, { own, by, bucketMs }) => {
    const from = Math.floor(wanted.from / HOUR_MS) * HOUR_MS;
    const to = Math.ceil(wanted.to / HOUR_MS) * HOUR_MS;
    const bucket = bucketMs === undefined ? `${from}` : `at / ${bucketMs} * ${bucketMs}`;
    const usesDays = bucketMs === undefined || bucketMs % DAY_MS === 0;
    const all = sumOf(usesDays ? toDays({ from, to }) : toHours({ from, to }), { bucket, by });
    if (own.length === 0) return all;
    const theirs = sumOf(toOwn({ from, to }, own), { bucket, by }).map((sum) => ({ ...sum, isOwn: true }));
    return [...takeOff(all, theirs), ...theirs];
  };

  function sumOf({ sql, values }: Source, { bucket, by }: SumOptions): BookSum[] {
    const columns = SPLITS.map((split) => `${by.includes(split) ? `coalesce(${split}, '')` : "''"} AS ${split}`);
    const statement = db.prepare(`
      SELECT ${bucket} AS at, ${columns.join(", ")}, network, asset, decimals, kind,
        sum(count) AS count, sum(giga) AS giga, sum(rest) AS rest, sum(nano) AS nano
      FROM (${sql}) AS lines JOIN book_terms ON book_terms.id = lines.terms
      GROUP BY 1, 2, 3, 4, network, asset, decimals, kind ORDER BY 1`);
    statement.setReadBigInts(true);
    return statement.all(...values).map(toSum);
  }
}

interface SumOptions {
  /** SQL of the bucket's beginning. */
  readonly bucket: string;
  readonly by: readonly Split[];
}

/** Rows of a time, terms, a kind and sums. */
interface Source {
  readonly sql: string;
  readonly values: readonly SQLInputValue[];
}

const SUMS = "terms, kind, count, giga, rest, nano";

const toHours = ({ from, to }: Span): Source => ({
  sql: `SELECT hour * ${HOUR_MS} AS at, ${SUMS} FROM book_hours WHERE hour >= ? AND hour < ?`,
  values: [from / HOUR_MS, to / HOUR_MS],
});

/** Whole days, and the hours before and after them. */
function toDays({ from, to }: Span): Source {
  const [first, last] = [Math.ceil(from / DAY_MS), Math.floor(to / DAY_MS)];
  if (first >= last) return toHours({ from, to });
  const [before, after] = [toHours({ from, to: first * DAY_MS }), toHours({ from: last * DAY_MS, to })];
  const days = `SELECT day * ${DAY_MS} AS at, ${SUMS} FROM book_days WHERE day >= ? AND day < ?`;
  return {
    sql: [days, before.sql, after.sql].join(" UNION ALL "),
    values: [first, last, ...before.values, ...after.values],
  };
}

const toOwn = ({ from, to }: Span, own: readonly string[]): Source => ({
  sql: `SELECT at, terms, kind, 1 AS count, ${ATOMIC}, coalesce(nano, 0) AS nano
    FROM book WHERE at >= ? AND at < ? AND payer IN (${own.map(() => "?").join(", ")})`,
  values: [from, to, ...own],
});

function toSum(row: object): BookSum {
  const { at, count, giga, rest, nano, decimals, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<BookSum, "service" | "door" | "rail" | "network" | "asset" | "kind">),
    at: Number(at),
    decimals: decimals === null ? null : Number(decimals),
    isOwn: false,
    count: Number(count),
    amount: (giga as bigint) * GIGA + (rest as bigint),
    nanoUsd: nano as bigint,
  };
}

const nameOf = ({ at, service, door, rail, network, asset, kind }: BookSum): string =>
  JSON.stringify([at, service, door, rail, network, asset, kind]);

/** What is left of sums without a part of them. */
function takeOff(all: readonly BookSum[], part: readonly BookSum[]): BookSum[] {
  const parts = new Map(part.map((sum) => [nameOf(sum), sum]));
  return all.flatMap((sum) => {
    const { count, amount, nanoUsd } = parts.get(nameOf(sum)) ?? { count: 0, amount: 0n, nanoUsd: 0n };
    if (count === sum.count) return [];
    return [{ ...sum, count: sum.count - count, amount: sum.amount - amount, nanoUsd: sum.nanoUsd - nanoUsd }];
  });
}
