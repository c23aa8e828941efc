import type { DatabaseSync } from "node:sqlite";
import type { BookSum, Books, Span, Split } from "../../core/books/books.ts";
import { packPayer } from "./filters.ts";
import { ATOMIC, KINDS, NANO, SUMMED, SUMMED_AGAIN, toSummed } from "./packing.ts";
import { HOUR_MS, UNITS } from "./schema.ts";
import { cutSpan, type SelectedSpans, selectSpans, unitsOf } from "./spans.ts";

const SPLITS: readonly Split[] = ["service", "door", "rail"];

/** Reads the sums per hour and day; lines of own wallets are summed one by one. */
export function createSums(db: DatabaseSync): Books["sums"] {
  return (wanted, { own, by, bucketMs }) => {
    const from = Math.floor(wanted.from / HOUR_MS) * HOUR_MS;
    const to = Math.ceil(wanted.to / HOUR_MS) * HOUR_MS;
    const bucket = bucketMs === undefined ? `${from}` : `at / ${bucketMs} * ${bucketMs}`;
    const units = unitsOf([UNITS.day, UNITS.hour], bucketMs);
    const spans = cutSpan({ from, to }, units.length > 0 ? units : [UNITS.hour]);
    const all = sumOf(selectSpans("book_sums", "terms, kind, count, giga, rest, nano", spans), { bucket, by });
    if (own.length === 0) return all;
    const theirs = sumOf(toOwn({ from, to }, own), { bucket, by }).map((sum) => ({ ...sum, isOwn: true }));
    return [...takeOff(all, theirs), ...theirs];
  };

  function sumOf({ sql, values }: SelectedSpans, { bucket, by }: SumOptions): BookSum[] {
    const columns = SPLITS.map((split) => `${by.includes(split) ? `coalesce(${split}, '')` : "''"} AS ${split}`);
    const statement = db.prepare(`
      SELECT ${bucket} AS at, ${columns.join(", ")}, network, asset, decimals, kind,
        sum(count) AS count, ${SUMMED_AGAIN}, sum(nano) AS nano
      FROM (SELECT ${bucket} AS at, terms, kind, sum(count) AS count, ${SUMMED},
        sum(nano) AS nano FROM (${sql}) GROUP BY 1, 2, 3) AS lines JOIN book_terms ON book_terms.id = lines.terms
      GROUP BY 1, 2, 3, 4, network, asset, decimals, kind ORDER BY 1`);
    statement.setReadBigInts(true);
    return statement.all(...values).map(toSum);
  }
}

interface SumOptions {
  /** SQL of the bucket's start. */
  readonly bucket: string;
  readonly by: readonly Split[];
}

const toOwn = ({ from, to }: Span, own: readonly string[]): SelectedSpans => ({
  sql: `SELECT t.at AS at, terms, kind, 1 AS count, ${ATOMIC}, ${NANO}
    FROM book_bought t JOIN book_lines l ON l.seq = t.seq WHERE t.at >= ? AND t.at < ?
      AND t.payer IN (SELECT id FROM book_payers WHERE payer IN (${own.map(() => "?").join(", ")}))`,
  values: [from, to, ...own.map(packPayer)],
});

function toSum(row: object): BookSum {
  const { at, count, tera, giga, rest, nano, decimals, kind, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<BookSum, "service" | "door" | "rail" | "network" | "asset">),
    kind: KINDS[Number(kind)] as BookSum["kind"],
    at: Number(at),
    decimals: decimals === null ? null : Number(decimals),
    isOwn: false,
    count: Number(count),
    amount: toSummed({ tera, giga, rest }),
    nanoUsd: nano as bigint,
  };
}

const nameOf = ({ at, service, door, rail, network, asset, decimals, kind }: BookSum): string =>
  JSON.stringify([at, service, door, rail, network, asset, decimals, kind]);

/** Subtracts sums from sums that include them. */
function takeOff(all: readonly BookSum[], part: readonly BookSum[]): BookSum[] {
  const parts = new Map(part.map((sum) => [nameOf(sum), sum]));
  return all.flatMap((sum) => {
    const { count, amount, nanoUsd } = parts.get(nameOf(sum)) ?? { count: 0, amount: 0n, nanoUsd: 0n };
    if (count === sum.count) return [];
    return [{ ...sum, count: sum.count - count, amount: sum.amount - amount, nanoUsd: sum.nanoUsd - nanoUsd }];
  });
}
