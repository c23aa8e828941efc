import type { DatabaseSync } from "node:sqlite";
import type { BookLine, Books, BuyerSum, TallySum } from "../../core/books/books.ts";
import { toDecimal } from "../../core/set/price.ts";
import { toWhere } from "./filters.ts";
import { createGroups } from "./groups.ts";
import { createSums } from "./sums.ts";
import { NANO_DECIMALS } from "./tables.ts";

/** What is asked of the tables themselves. */
export type BookQuestions = Omit<Books, "refresh" | "close">;

const LINE = (times = "times"): string => `
  SELECT seq, book.id, kind, sale AS "of", at, service, door, rail, network, asset, decimals, amount, nano, payer,
    receiver, tx AS "transaction", request AS requestId, job, set_digest AS "set", ${times} AS times
  FROM book JOIN book_terms ON book_terms.id = book.terms`;
const FOUND_MOST = 200;
const MINUTE_MS = 60_000;

/** Answers from the tables of a book. Every answer blocks the thread until it is there. */
export function createBookQuestions(db: DatabaseSync): BookQuestions {
  const find = db.prepare(`WITH found AS (
      SELECT id, sale FROM book WHERE id = ?1 UNION SELECT id, sale FROM book WHERE tx = ?1 AND tx != ''
      UNION SELECT id, sale FROM book WHERE request = ?1 UNION SELECT id, sale FROM book WHERE job = ?1),
    sales AS (SELECT coalesce(sale, id) AS id FROM found)
    ${LINE()} WHERE book.id IN (SELECT id FROM sales UNION SELECT id FROM found)
      OR book.sale IN (SELECT id FROM sales) ORDER BY seq LIMIT ${FOUND_MOST}`);
  const since = db.prepare(`${LINE()} WHERE seq > ? ORDER BY seq LIMIT ?`);
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
      const sql = `${LINE("NULL")} ${where} ORDER BY at ${direction}, seq ${direction} LIMIT ?`;
      const rows = db.prepare(sql).all(...values, ...(after ? [after.at, after.seq] : []), limit);
      return rows.map(toLine);
    },
    find: (text) => find.all(text).map(toLine),
    since: (seq, limit) => since.all(seq, limit).map(toLine),
    sums: createSums(db),
    groups: createGroups(db),
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
}

/** As `LINE` gives it. */
function toLine(row: object): BookLine {
  // A row is a new object each time: it becomes the line.
  const line = row as { nano?: number | null; times: string | object | null; usd?: string | null };
  line.usd = line.nano === null ? null : toDecimal(BigInt(line.nano as number), NANO_DECIMALS);
  delete line.nano;
  if (typeof line.times === "string") line.times = JSON.parse(line.times) as object;
  return line as unknown as BookLine;
}
