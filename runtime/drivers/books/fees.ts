import type { DatabaseSync, SQLInputValue } from "node:sqlite";
import type { Books, Span } from "../../core/books/books.ts";
import { saleId } from "../../core/books/events.ts";
import type { BookFee, FeeEvent, FeeSum } from "../../core/books/fees.ts";
import { ATOMIC, KINDS, packHex, packId, SUMMED, toSummed, unpackHex } from "./packing.ts";
import { HOUR_MS, keyOf, LONE, MINUTE_MS, PARTS, UNITS } from "./schema.ts";
import { cutSpan, selectSpans } from "./spans.ts";

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
  const columns = `${unpackHex("f.tx")} AS tx, f.at, CAST(f.amount AS TEXT) AS amount, about, f.network, symbol, f.decimals,
    purpose, reverted`;
  const networks = db.prepare(`SELECT DISTINCT network FROM book_fee_sums WHERE unit = ${UNITS.day}`);
  const ofLines = db.prepare(`SELECT l.seq AS seq, ${columns}
    FROM json_each(?) j CROSS JOIN book_lines l ON l.seq = j.value CROSS JOIN book_terms b ON b.id = l.terms
      CROSS JOIN book_fees f ON f.tx = l.tx AND f.network = b.network
    WHERE ${createBearing(db)}`);
  const lone =
    db.prepare(`SELECT ${columns} FROM book_fees f WHERE ${LONE} AND at >= ? AND at < ? AND (at, tx, network) > (?, ?, ?)
    ORDER BY at, tx, network LIMIT ?`);
  const exact = `SELECT ${NAMES}, 1 AS count, ${ATOMIC} FROM book_fees WHERE at >= ? AND at < ?`;

  return {
    fees(lines) {
      const known = new Set(networks.all().map(({ network }) => network));
      const own = lines.filter(({ network }) => known.has(network)).map(({ seq }) => seq);
      return new Map(ofLines.all(JSON.stringify(own)).map(({ seq, ...fee }) => [Number(seq), toFee(fee)]));
    },
    loneFees: ({ from, to }, { limit, after }) => {
      const last = after ? [after.at, packHex(after.transaction), after.network] : [Number.MIN_SAFE_INTEGER, 0, ""];
      return lone.all(from, to, ...last, limit).map(toFee);
    },
    feeSums(span) {
      const isWhole = span.from % HOUR_MS === 0 && span.to % HOUR_MS === 0;
      const { sql, values } = isWhole ? summed(span) : { sql: exact, values: [span.from, span.to] };
      const statement = db.prepare(`SELECT ${NAMES}, sum(count) AS count, ${SUMMED}
        FROM (${sql}) GROUP BY ${NAMES} ORDER BY ${NAMES}`);
      statement.setReadBigInts(true);
      return statement.all(...values).map(toSum);
    },
  };
}

/** Every line but a reversal may bear a fee: a restoration, that of the transaction which the chain shows. */
const REVERSAL = KINDS.indexOf("reversal");

/** SQL of whether the line `l` bears the fee `f` of its transaction. */
export function createBearing(db: DatabaseSync): string {
  const toSale = (about: string | null): SQLInputValue => (about === null ? null : packId(saleId(about)));
  db.function("sale_of", { deterministic: true }, toSale as (...values: SQLInputValue[]) => SQLInputValue);
  return `l.kind <> ${REVERSAL} AND (l.id IS sale_of(f.about) OR NOT EXISTS (
    SELECT 1 FROM ${PARTS} p CROSS JOIN book_keys k ON k.part = p.part AND k.key = ${keyOf("f.tx")}
      CROSS JOIN book_lines o ON o.seq = k.seq AND o.tx = f.tx AND o.kind <> ${REVERSAL}
      CROSS JOIN book_terms t ON t.id = o.terms AND t.network = f.network
    WHERE o.seq < l.seq OR o.seq > l.seq AND o.id IS sale_of(f.about)))`;
}

const summed = (span: Span): ReturnType<typeof selectSpans> =>
  selectSpans("book_fee_sums", `${NAMES}, count, giga, rest`, cutSpan(span, [UNITS.day, UNITS.hour]));

function toFee(row: object): BookFee {
  const { tx, reverted, ...fee } = row as Record<string, unknown>;
  return { transaction: tx, isReverted: reverted === 1, ...fee } as BookFee;
}

function toSum(row: object): FeeSum {
  const { count, tera, giga, rest, decimals, reverted, ...names } = row as Record<string, bigint>;
  return {
    ...(names as unknown as Pick<FeeSum, "network" | "symbol" | "purpose">),
    decimals: Number(decimals),
    isReverted: reverted === 1n,
    count: Number(count),
    amount: toSummed({ tera, giga, rest }),
  };
}
