import type { DatabaseSync, StatementSync } from "node:sqlite";
import { toAccount } from "../../core/account.ts";
import { type BookLine, type Books, FOUND_MOST, type LineFilter, type LinePage } from "../../core/books/books.ts";
import type { SaleTimes } from "../../core/books/events.ts";
import { toDecimal } from "../../core/set/price.ts";
import { toFiltered, toTermsWhere } from "./filters.ts";
import { KINDS, packHex, packId, packUuid, unpackHex, unpackId, unpackUuid } from "./packing.ts";
import { HOUR_MS, keyOf, NANO_DECIMALS, PARTS, SHOWN, UNITS } from "./schema.ts";
import { createTermsReader, type LineTerms } from "./terms.ts";

/** The queries of a book that return lines. */
export type LineQuestions = Pick<Books, "lines" | "find" | "since">;

const columns = (steps: string): string => `
SELECT l.seq, ${unpackId("l.id")}, l.kind, ${unpackId("s.id")}, l.at, l.terms, l.amount, l.nano,
    ${unpackHex("l.payer")}, ${unpackHex("l.tx")}, ${unpackUuid("l.request")}, ${unpackUuid("l.job")}${steps}`;
const SALE = "LEFT JOIN book_lines s ON s.seq = l.sale";
const LINE = columns("");
const LIFE = `${columns(", l.begun, l.reserved, l.verified, l.worked, l.recorded")} FROM book_lines l ${SALE}`;
const keyed = (column: string, value: string): string => `SELECT l.seq, l.sale
  FROM ${PARTS} p CROSS JOIN book_keys k ON k.part = p.part AND k.key = ${keyOf(value)}
  CROSS JOIN book_lines l ON l.seq = k.seq AND l.${column} = ${value}`;
const MOST_STATEMENTS = 50;
/** How many days are looked up at once, and more hours than a day has: a page needs few. */
const MOST_DAYS = 31;

export function createLineQuestions(db: DatabaseSync): LineQuestions {
  const termsOf = createTermsReader(db);
  const toLine = (row: unknown): BookLine => readLine(row as Row, termsOf);
  // Lines that are found otherwise come first: buyers choose request ids, and could give many calls another line's id. Of those
  // with a request id the oldest are read: keys are in the order of lines.
  const find = prepare(
    db,
    `WITH named AS (
      SELECT l.seq, l.sale FROM book_ids i JOIN book_lines l ON l.seq = i.seq WHERE i.id = ?1
      UNION ${keyed("tx", "?2")} UNION ${keyed("job", "?3")}),
    found AS (SELECT * FROM named UNION SELECT * FROM (${keyed("request", "?3")} LIMIT ${FOUND_MOST})),
    sales AS (SELECT coalesce(sale, seq) AS seq FROM found),
    about AS (SELECT k.seq FROM sales CROSS JOIN ${PARTS} p CROSS JOIN book_keys k ON k.part = p.part AND k.key = sales.seq)
    ${LIFE} WHERE l.seq IN (SELECT seq FROM found UNION SELECT seq FROM sales UNION SELECT seq FROM about)
    ORDER BY coalesce(l.sale, l.seq) IN (SELECT coalesce(sale, seq) FROM named) DESC, l.seq LIMIT ${FOUND_MOST}`,
  );
  const since = prepare(db, `${LIFE} WHERE l.seq > ? AND l.seq <= ${SHOWN} ORDER BY l.seq LIMIT ?`);
  const statements = new Map<string, StatementSync>();

  return {
    lines: (filter, page) => {
      if (filter.payer !== undefined || (filter.service ?? filter.rail) === undefined) return read(filter, page);
      return readByHours(filter, page);
    },
    find(text) {
      const found = findExactly(text);
      return found.length > 0 ? found : findExactly(toAccount(text)); // A transaction may be given in capitals.
    },
    since: (seq, limit) => since.all(seq, limit).map(toLine),
  };

  function findExactly(text: string): BookLine[] {
    const found = find.all(packId(text), packHex(text), packUuid(text)).map(toLine);
    return found.sort((one, other) => one.seq - other.seq);
  }

  function read(filter: LineFilter, { limit, order, after }: LinePage): BookLine[] {
    const { from, wheres, values } = toFiltered(filter);
    const [past, direction] = order === "oldest-first" ? [">", "ASC"] : ["<", "DESC"];
    const all = after ? [...wheres, `(t.at, t.seq) ${past} (?, ?)`] : wheres;
    const where = all.length > 0 ? `WHERE ${all.join(" AND ")}` : "";
    const statement = statementOf(
      `${LINE} FROM ${from} ${SALE} ${where} ORDER BY t.at ${direction}, t.seq ${direction} LIMIT ?`,
    );
    return statement.all(...values, ...(after ? [after.at, after.seq] : []), limit).map(toLine);
  }

  /** The sums tell in which hours a service or rail has lines: only those hours are read. */
  function readByHours(filter: LineFilter, page: LinePage): BookLine[] {
    const isForth = page.order === "oldest-first";
    const { at = isForth ? Number.MIN_SAFE_INTEGER : Number.MAX_SAFE_INTEGER } = page.after ?? {};
    const from = isForth ? Math.max(filter.from ?? at, at) : (filter.from ?? Number.MIN_SAFE_INTEGER);
    const until = filter.to ?? Number.MAX_SAFE_INTEGER;
    const to = isForth ? until : Math.min(until, at + 1); // The last line's millisecond may have more lines.
    const lines: BookLine[] = [];
    for (const hour of hoursOf(filter, { from, to, isForth })) {
      const span = { from: Math.max(from, hour * HOUR_MS), to: Math.min(to, (hour + 1) * HOUR_MS) };
      lines.push(...read({ ...filter, ...span }, { ...page, limit: page.limit - lines.length }));
      if (lines.length >= page.limit) break;
    }
    return lines;
  }

  /** Finds the days first, and then their hours. */
  function* hoursOf({ service, rail }: LineFilter, { from, to, isForth }: HourSpan): Generator<number> {
    const { wheres, values } = toTermsWhere({ service, rail }, "terms");
    const sql = `SELECT DISTINCT at FROM book_sums WHERE unit = ? AND at >= ? AND at <= ? AND ${wheres.join(" AND ")}
      ORDER BY at ${isForth ? "ASC" : "DESC"} LIMIT ${MOST_DAYS}`;
    const read = (unit: number, first: number, last: number): readonly number[] =>
      statementOf(sql)
        .all(unit, first, last, ...values)
        .map((row) => (row as unknown as [number])[0]);
    const [first, last] = [Math.floor(from / HOUR_MS), Math.floor((to - 1) / HOUR_MS)];
    let [firstDay, lastDay] = [Math.floor(first / 24), Math.floor(last / 24)];
    for (let days: readonly number[]; ; ) {
      days = read(UNITS.day, firstDay, lastDay);
      for (const day of days) yield* read(UNITS.hour, Math.max(first, day * 24), Math.min(last, day * 24 + 23));
      const end = days.at(-1);
      if (end === undefined || days.length < MOST_DAYS) return;
      if (isForth) firstDay = end + 1;
      else lastDay = end - 1;
    }
  }

  function statementOf(sql: string): StatementSync {
    const statement = statements.get(sql) ?? prepare(db, sql);
    if (statements.size >= MOST_STATEMENTS) statements.clear();
    statements.set(sql, statement);
    return statement;
  }
}

interface HourSpan {
  readonly from: number;
  readonly to: number;
  readonly isForth: boolean;
}

/** Reading rows as arrays takes half the time of reading objects. */
function prepare(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

type Row = readonly [
  seq: number,
  id: string,
  kind: number,
  of: string | null,
  at: number,
  terms: number,
  amount: number | string,
  nano: number | string | null,
  payer: string | null,
  tx: string | null,
  request: string | null,
  job: string | null,
  ...steps: (number | null)[],
];

function readLine(row: Row, termsOf: (id: number) => LineTerms): BookLine {
  const { service, door, rail, network, asset, decimals, receiver, set } = termsOf(row[5]);
  return {
    seq: row[0],
    id: row[1],
    kind: KINDS[row[2]] as BookLine["kind"],
    of: row[3],
    at: row[4],
    service,
    door,
    rail,
    network,
    asset,
    decimals,
    amount: String(row[6]),
    usd: toUsd(row[7]),
    payer: row[8],
    receiver,
    transaction: row[9] ?? "",
    requestId: row[10],
    job: row[11],
    set,
    times: row.length > 12 ? toTimes(row) : null,
  };
}

function toTimes(row: Row): SaleTimes | null {
  const [begunBefore, reserved, verified, worked, recorded] = row.slice(12);
  if (typeof begunBefore !== "number") return null;
  const begun = row[4] - begunBefore;
  const steps = Object.entries({ reserved, verified, worked, recorded });
  const taken = steps.flatMap(([step, after]) => (typeof after === "number" ? [[step, begun + after]] : []));
  return { begun, ...Object.fromEntries(taken) };
}

/** A cache of formatted prices: a shop has few. */
const texts = new Map<number | string, string>();
const MOST_TEXTS = 1000;

function toUsd(nano: number | string | null): string | null {
  if (nano === null) return null;
  const known = texts.get(nano);
  if (known !== undefined) return known;
  if (texts.size >= MOST_TEXTS) texts.clear();
  const text = toDecimal(BigInt(nano), NANO_DECIMALS);
  texts.set(nano, text);
  return text;
}
