import type { DatabaseSync } from "node:sqlite";
import { keyOf, MINUTE_MS, partOf, SHOWN, UNITS } from "./schema.ts";

/**
 * Deletes some of the lines before `before` (Unix milliseconds; 0: none), and all tallies before a minute.
 * @returns whether more such lines are left
 */
export type Forget = (before: number, tallyMinute: number) => boolean;

const MOST = 500;
/** The minutes, hours or days that one step takes of sums and counts. */
const SPAN = 24;

/**
 * Keeps the newest line, so that no number of a line is used twice. A step takes little of each table, since it blocks all
 * calls: after `keep_days` was set, or a shop stood still, years may have to go.
 */
export function createForgetting(db: DatabaseSync): Forget {
  const old = db.prepare(
    `SELECT seq FROM book_times WHERE at < ? AND seq < (SELECT max(seq) FROM book_lines) ORDER BY at LIMIT ${MOST}`,
  );
  const keys = ["tx", "request", "job", "sale"].map((name) =>
    db.prepare(
      `DELETE FROM book_keys WHERE part = ${partOf("?1")} AND seq = ?1 AND key = (SELECT ${keyOf(name)} FROM book_lines WHERE seq = ?1)`,
    ),
  );
  const line = [
    "DELETE FROM book_ids WHERE id = (SELECT id FROM book_lines WHERE seq = ?1)",
    `DELETE FROM book_bought WHERE seq = ?1 AND at = (SELECT at FROM book_lines WHERE seq = ?1)
      AND payer = (SELECT p.id FROM book_payers p JOIN book_lines l ON l.payer = p.payer WHERE l.seq = ?1)`,
    // Here, where the payer is known: to look for payers without a line, all of them would be read.
    `DELETE FROM book_payers WHERE payer = (SELECT payer FROM book_lines WHERE seq = ?1)
      AND NOT EXISTS (SELECT 1 FROM book_bought WHERE payer = book_payers.id)
      AND payer NOT IN (SELECT payer FROM book_lines WHERE seq > ${SHOWN} AND payer IS NOT NULL)`,
    "DELETE FROM book_times WHERE seq = ?1 AND at = (SELECT at FROM book_lines WHERE seq = ?1)",
    "DELETE FROM book_lines WHERE seq = ?1",
  ].map((sql) => db.prepare(sql));
  const shedSums = ["book_sums", "book_fee_sums"].map((table) => createShedding(db, table, "at", "unit = ?1"));
  const shedVisits = createShedding(db, "book_visits", "hour", "?1 IS NOT NULL");
  const shedCounts = createShedding(db, "book_counts", "at", "unit = ?1");
  const fees = db.prepare(
    `DELETE FROM book_fees WHERE (tx, network) IN (SELECT tx, network FROM book_fees WHERE at < ? LIMIT ${MOST})`,
  );

  return (before, tallyMinute) => {
    const left = Object.values(UNITS).map((unit) => shedCounts(unit, Math.floor(tallyMinute / unit)));
    if (before <= 0) return left.includes(true);
    const minute = Math.floor(before / MINUTE_MS);
    for (const unit of [UNITS.hour, UNITS.day])
      for (const shed of shedSums) left.push(shed(unit, Math.floor(minute / unit)));
    left.push(shedVisits(UNITS.hour, Math.floor(minute / UNITS.hour)));
    left.push(fees.run(before).changes === MOST);
    const found = old.all(before) as unknown as readonly { readonly seq: number }[];
    for (const { seq } of found) for (const statement of [...keys, ...line]) statement.run(seq);
    return found.length === MOST || left.includes(true);
  };
}

/**
 * Deletes the oldest rows before a time in units, of `SPAN` units at most. @returns whether more may be left
 * @param of SQL that selects the rows of the unit ?1
 */
function createShedding(
  db: DatabaseSync,
  table: string,
  column: string,
  of: string,
): (unit: number, before: number) => boolean {
  const oldest = db.prepare(`SELECT min(${column}) AS at FROM ${table} WHERE ${of}`);
  const remove = db.prepare(`DELETE FROM ${table} WHERE ${of} AND ${column} < ?2`);
  return (unit, before) => {
    const { at } = oldest.get(unit) as { readonly at: number | null };
    if (at === null || at >= before) return false;
    const to = Math.min(before, at + SPAN);
    remove.run(unit, to);
    return to < before;
  };
}
