import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Books, Span } from "../../core/books/books.ts";
import type { BookFee, FeeEvent, FeeSum } from "../../core/books/fees.ts";
import { ATOMIC, packHex, unpackHex } from "./packing.ts";
import { GIGA, LONE, MINUTE_MS, UNITS } from "./schema.ts";
import { cutSpan, selectSpans } from "./spans.ts";

const HOUR_MS = UNITS.hour * MINUTE_MS;
const NAMES = "network, symbol, decimals, purpose, reverted";

/** Writes fees, one per transaction. */
export function createFeeWriter(db: DatabaseSync): (fee: FeeEvent) => void {
  const insert = db.prepare("INSERT OR IGNORE INTO book_fees VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)");
  const sums = [UNITS.hour, UNITS.day].map((unit) =>
    db.prepare(`INSERT INTO book_fee_sums
      SELECT ${unit}, at / ${unit * MINUTE_MS}, ${NAMES}, 1, giga, rest
      FROM (SELECT at, ${NAMES}, ${ATOMIC} FROM book_fees WHERE tx = ? AND network = ?) WHERE true
      ON CONFLICT DO UPDATE SET count = count + 1, giga = giga + excluded.giga, rest = rest + excluded.rest`),
  );
  return ({ transaction, network, at, amount, symbol, decimals, purpose, about, isReverted }) => {
    const tx = packHex(transaction);
    const terms: SQLInputValue[] = [symbol, decimals, purpose, about, isReverted ? 1 : 0];
    if (insert.run(tx, network, at, toInteger(amount), ...terms).changes === 0) return;
    for (const sum of sums) sum.run(tx, network);
  };
}

/** A text when the amount exceeds SQLite's integers. */
const toInteger = (amount: string): bigint | string => (BigInt(amount) < 2n ** 63n ? BigInt(amount) : amount);

/** Answers queries of fees. */
export function createFeeQuestions(db: DatabaseSync): Pick<Books, "fees" | "loneFees" | "feeSums"> {
  const columns = `SELECT ${unpackHex("tx")} AS tx, at, CAST(amount AS TEXT) AS amount, about, ${NAMES} FROM book_fees`;
  const networks = db.prepare(`SELECT DISTINCT network FROM book_fee_sums WHERE unit = ${UNITS.day}`);
  const one = db.prepare(`${columns} WHERE tx = ? AND network = ?`);
  const lone = db.prepare(`${columns} WHERE ${LONE} AND at >= ? AND at < ? AND (at, tx, network) > (?, ?, ?)
    ORDER BY at, tx, network LIMIT ?`);
  const exact = `SELECT ${NAMES}, 1 AS count, ${ATOMIC} FROM book_fees WHERE at >= ? AND at < ?`;

  return {
    fees(transactions) {
      const known = new Set(networks.all().map(({ network }) => network as string));
      const own = transactions.filter(({ network }) => known.has(network));
      return own.flatMap(({ transaction, network }) => one.all(packHex(transaction), network).map(toFee));
    },
    loneFees: ({ from, to }, { limit, after }) => {
      const last = after ? [after.at, packHex(after.transaction), after.network] : [Number.MIN_SAFE_INTEGER, 0, ""];
      return lone.all(from, to, ...last, limit).map(toFee);
    },
    feeSums(span) {
      const isWhole = span.from % HOUR_MS === 0 && span.to % HOUR_MS === 0;
      const { sql, values } = isWhole ? summed(span) : { sql: exact, values: [span.from, span.to] };
      const statement = db.prepare(`SELECT ${NAMES}, sum(count) AS count, sum(giga) AS giga, sum(rest) AS rest
        FROM (${sql}) GROUP BY ${NAMES} ORDER BY ${NAMES}`);
      statement.setReadBigInts(true);
      return statement.all(...values).map(toSum);
    },
  };
}

const summed = (span: Span): ReturnType<typeof selectSpans> =>
  selectSpans("book_fee_sums", `${NAMES}, count, giga, rest`, cutSpan(span, [UNITS.day, UNITS.hour]));

function toFee(row: object): BookFee {
  const { tx, reverted, ...fee } = row as Record<string, unknown>;
  return { transaction: tx, isReverted: reverted === 1, ...fee } as BookFee;
}

function toSum(row: object): FeeSum {
  const { count, giga, rest, decimals, reverted, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<FeeSum, "network" | "symbol" | "purpose">),
    decimals: Number(decimals),
    isReverted: reverted === 1n,
    count: Number(count),
    amount: (giga as bigint) * GIGA + (rest as bigint),
  };
}
