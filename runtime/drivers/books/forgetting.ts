import type { DatabaseSync } from "node:sqlite";
import { keyOf, MINUTE_MS, partOf, SHOWN, UNITS } from "./schema.ts";

/**
 * Deletes some of the lines before `before` (Unix milliseconds; 0: none), and all tallies before a minute.
 * @returns whether more such lines are left
 */
export type Forget = (before: number, tallyMinute: number) => boolean;

const MOST = 500;

/** Keeps the newest line, so that no number of a line is used twice. */
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
    "DELETE FROM book_times WHERE seq = ?1 AND at = (SELECT at FROM book_lines WHERE seq = ?1)",
    "DELETE FROM book_lines WHERE seq = ?1",
  ].map((sql) => db.prepare(sql));
  const sums = db.prepare("DELETE FROM book_sums WHERE unit = ? AND at < ?");
  const visits = db.prepare("DELETE FROM book_visits WHERE hour < ?");
  const payers = db.prepare(
    `DELETE FROM book_payers WHERE last_at < ? AND NOT EXISTS (SELECT 1 FROM book_bought WHERE payer = book_payers.id)
       AND payer NOT IN (SELECT payer FROM book_lines WHERE seq > ${SHOWN} AND payer IS NOT NULL)`,
  );
  const fees = db.prepare(
    `DELETE FROM book_fees WHERE (tx, network) IN (SELECT tx, network FROM book_fees WHERE at < ? LIMIT ${MOST})`,
  );
  const feeSums = db.prepare("DELETE FROM book_fee_sums WHERE unit = ? AND at < ?");
  const counts = db.prepare("DELETE FROM book_counts WHERE unit = ? AND at < ?");

  return (before, tallyMinute) => {
    for (const unit of Object.values(UNITS)) counts.run(unit, Math.floor(tallyMinute / unit));
    if (before <= 0) return false;
    const minute = Math.floor(before / MINUTE_MS);
    for (const unit of [UNITS.hour, UNITS.day])
      for (const table of [sums, feeSums]) table.run(unit, Math.floor(minute / unit));
    const feesLeft = fees.run(before).changes === MOST;
    visits.run(Math.floor(minute / UNITS.hour));
    const found = old.all(before) as unknown as readonly { readonly seq: number }[];
    for (const { seq } of found) for (const statement of [...keys, ...line]) statement.run(seq);
    if (found.length < MOST) payers.run(before); // After the last lines, which still refer to their payers.
    return found.length === MOST || feesLeft;
  };
}
