import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { BookLine, BookSum, Books, BuyerSum, LineFilter, Split, TallySum } from "../../core/books/books.ts";
import { toDecimal } from "../../core/set/price.ts";
import { GIGA, HOUR_MS, NANO_DECIMALS } from "./tables.ts";

/** What is asked of the tables themselves. */
export type BookQuestions = Omit<Books, "refresh" | "close">;

const LINE = `
  SELECT seq, book.id, kind, sale AS "of", at, service, door, rail, network, asset, decimals, amount, nano, payer,
    receiver, tx AS "transaction", request AS requestId, job, set_digest AS "set", times
  FROM book JOIN book_terms ON book_terms.id = book.terms`;
const FOUND_MOST = 200;
const MINUTE_MS = 60_000;
const SPLITS: readonly Split[] = ["service", "door", "rail"];

/** Answers from the tables of a book. Every answer blocks the thread until it is there. */
export function createBookQuestions(db: DatabaseSync): BookQuestions {
  const find = db.prepare(`WITH found AS (
      SELECT id, sale FROM book WHERE id = ?1 UNION SELECT id, sale FROM book WHERE tx = ?1 AND tx != ''
      UNION SELECT id, sale FROM book WHERE request = ?1 UNION SELECT id, sale FROM book WHERE job = ?1),
    sales AS (SELECT coalesce(sale, id) AS id FROM found)
    ${LINE} WHERE book.id IN (SELECT id FROM sales UNION SELECT id FROM found)
      OR book.sale IN (SELECT id FROM sales) ORDER BY seq LIMIT ${FOUND_MOST}`);
  const since = db.prepare(`${LINE} WHERE seq > ? ORDER BY seq LIMIT ?`);
  const buyers = db.prepare(
    `SELECT payer, first_at AS firstAt, last_at AS lastAt, count, nano FROM book_buyers ORDER BY nano DESC LIMIT ?`,
  );
  buyers.setReadBigInts(true);
  const countBuyers = db.prepare(
    "SELECT count(DISTINCT payer) AS buyers FROM book INDEXED BY book_at WHERE at >= ? AND at < ? AND kind = 'sale'",
  );

  return {
    lines(filter, { limit, order, after }) {
      const { wheres, values } = toWhere(filter);
      const [past, direction] = order === "oldest-first" ? [">", "ASC"] : ["<", "DESC"];
      if (after) wheres.push(`(at, seq) ${past} (?, ?)`);
      const where = wheres.length > 0 ? `WHERE ${wheres.join(" AND ")}` : "";
      const sql = `${LINE} ${where} ORDER BY at ${direction}, seq ${direction} LIMIT ?`;
      const rows = db.prepare(sql).all(...values, ...(after ? [after.at, after.seq] : []), limit);
      return rows.map(toLine);
    },
    find: (text) => find.all(text).map(toLine),
    since: (seq, limit) => since.all(seq, limit).map(toLine),
    sums(span, { own, by, bucketMs }) {
      const from = Math.floor(span.from / HOUR_MS);
      const to = Math.ceil(span.to / HOUR_MS);
      const bucket = bucketMs === undefined ? `${from * HOUR_MS}` : `(hour * ${HOUR_MS}) / ${bucketMs} * ${bucketMs}`;
      const all = sumOf(HOURS, { bucket, by, values: [from, to] });
      if (own.length === 0) return all;
      const values = [from * HOUR_MS, to * HOUR_MS, ...own];
      const theirs = sumOf(ownLines(own.length), { bucket, by, values }).map((sum) => ({ ...sum, isOwn: true }));
      return [...takeOff(all, theirs), ...theirs];
    },
    buyers: (limit) =>
      buyers.all(limit).map((row) => {
        const { payer, firstAt, lastAt, count, nano } = row as unknown as Record<string, bigint>;
        return {
          payer: String(payer),
          firstAt: Number(firstAt),
          lastAt: Number(lastAt),
          count: Number(count),
          nanoUsd: nano as bigint,
        } satisfies BuyerSum;
      }),
    countBuyers: ({ from, to }) => Number((countBuyers.get(from, to) as { buyers: number }).buyers),
    tallies({ from, to }, { service, bucketMs } = {}) {
      const bucket = bucketMs === undefined ? `${from}` : `minute / ${bucketMs / MINUTE_MS} * ${bucketMs}`;
      const sql = `SELECT ${bucket} AS at, service, door, rail, what, sum(count) AS count FROM book_tallies
        WHERE minute >= ? AND minute < ? ${service === undefined ? "" : "AND service = ?"} GROUP BY 1, 2, 3, 4, 5`;
      const span = [Math.floor(from / MINUTE_MS), Math.ceil(to / MINUTE_MS)];
      return db
        .prepare(sql)
        .all(...span, ...(service === undefined ? [] : [service]))
        .map((row) => ({ ...row }) as unknown as TallySum);
    },
  };

  function sumOf(source: string, { bucket, by, values }: SumOptions): BookSum[] {
    const columns = SPLITS.map((split) => `${by.includes(split) ? `coalesce(${split}, '')` : "''"} AS ${split}`);
    const statement = db.prepare(`
      SELECT ${bucket} AS at, ${columns.join(", ")}, network, asset, decimals, kind,
        sum(count) AS count, sum(giga) AS giga, sum(rest) AS rest, sum(nano) AS nano
      FROM (${source}) AS lines JOIN book_terms ON book_terms.id = lines.terms
      GROUP BY 1, 2, 3, 4, network, asset, decimals, kind ORDER BY 1`);
    statement.setReadBigInts(true);
    return statement.all(...values).map(toSum);
  }
}

interface SumOptions {
  /** SQL of the bucket's beginning. */
  readonly bucket: string;
  readonly by: readonly Split[];
  readonly values: readonly SQLInputValue[];
}

const HOURS = "SELECT * FROM book_hours WHERE hour >= ? AND hour < ?";

/** The same columns, from the lines of some payers. */
const ownLines = (count: number): string => `
  SELECT at / ${HOUR_MS} AS hour, terms, kind, 1 AS count,
    CAST(substr(amount, 1, max(length(amount) - 9, 0)) AS INTEGER) AS giga,
    CAST(substr(amount, max(length(amount) - 8, 1)) AS INTEGER) AS rest,
    coalesce(nano, 0) AS nano
  FROM book WHERE at >= ? AND at < ? AND payer IN (${Array(count).fill("?").join(", ")})`;

function toWhere({ from, to, service, rail, payer }: LineFilter): { wheres: string[]; values: SQLInputValue[] } {
  const wheres: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (sql: string, value: SQLInputValue | undefined): void => {
    if (value === undefined) return;
    wheres.push(sql);
    values.push(value);
  };
  add("at >= ?", from);
  add("at < ?", to);
  add("service = ?", service);
  add("rail = ?", rail);
  add("payer = ?", payer === undefined ? undefined : toPayer(payer));
  return { wheres, values };
}

/** A payer as the book has it: EVM addresses in lower case. */
const toPayer = (payer: string): string => (/^0x/i.test(payer) ? payer.toLowerCase() : payer);

/** As `LINE` gives it. */
function toLine(row: object): BookLine {
  const { times, nano, ...rest } = row as BookLine & { readonly times: string | null; readonly nano: number | null };
  const usd = nano === null ? null : toDecimal(BigInt(nano), NANO_DECIMALS);
  return { ...rest, usd, times: times === null ? null : JSON.parse(times) };
}

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
