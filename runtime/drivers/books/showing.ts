import type { DatabaseSync } from "node:sqlite";
import { ATOMIC, NANO } from "./packing.ts";
import { HOUR_MS, keyOf, MINUTE_MS, partOf, SHOWN, UNITS } from "./schema.ts";
import { createVisits } from "./visits.ts";

/** Lines per step: about ten milliseconds of the thread. The more lines, the fewer page writes per line. */
export const SHOW_STEP = 1000;

const DAY_MS = UNITS.day * MINUTE_MS;

/** SQL of the lines of a step; ?1 is the number before its first line and ?2 that of its last line. */
const NEW = "book_lines l WHERE l.seq > ?1 AND l.seq <= ?2";

const toSums = (unit: number, ms: number): string => `
  INSERT INTO book_sums SELECT ${unit}, at / ${ms}, terms, kind, count(*), sum(giga), sum(rest), sum(nano)
  FROM (SELECT at, terms, kind, ${ATOMIC}, ${NANO} FROM ${NEW}) GROUP BY 2, 3, 4
  ON CONFLICT (unit, at, terms, kind) DO UPDATE SET
    count = count + excluded.count, giga = giga + excluded.giga, rest = rest + excluded.rest, nano = nano + excluded.nano`;

/** The first line of an id counts. */
const IDS = `INSERT OR IGNORE INTO book_ids SELECT id, seq FROM ${NEW} ORDER BY id, seq`;
const REPEATED = `DELETE FROM book_lines AS l WHERE l.seq > ?1 AND l.seq <= ?2
  AND NOT EXISTS (SELECT 1 FROM book_ids i WHERE i.id = l.id AND i.seq = l.seq)`;

/** Writes what queries need of the new lines. Rows are sorted, since neighbours share pages. */
const STEPS = [
  ...["tx", "request", "job", "sale"].map(
    (
      name,
    ) => `INSERT OR IGNORE INTO book_keys SELECT ${partOf("seq")}, ${keyOf(name)}, seq FROM ${NEW} AND ${name} IS NOT NULL
      ORDER BY 1, 2, 3`,
  ),
  `INSERT INTO book_times SELECT at, seq FROM ${NEW}`,
  // A refund lowers a payer's dollars, but not the number of calls.
  `INSERT INTO book_payers (payer, first_at, last_at, count, nano)
    SELECT payer, min(at), max(at), sum(CASE kind WHEN 1 THEN 0 WHEN 2 THEN -1 ELSE 1 END),
      sum(CASE WHEN kind IN (1, 2) THEN -nano ELSE nano END)
    FROM (SELECT payer, at, kind, ${NANO} FROM ${NEW} AND payer IS NOT NULL) WHERE true GROUP BY payer
    ON CONFLICT (payer) DO UPDATE SET first_at = min(first_at, excluded.first_at),
      last_at = max(last_at, excluded.last_at), count = count + excluded.count, nano = nano + excluded.nano`,
  `INSERT INTO book_bought SELECT p.id, l.at, l.seq FROM book_lines l CROSS JOIN book_payers p ON p.payer = l.payer
    WHERE l.seq > ?1 AND l.seq <= ?2 ORDER BY 1, 2, 3`,
  toSums(UNITS.hour, HOUR_MS),
  toSums(UNITS.day, DAY_MS),
];

/**
 * Makes the next lines visible to queries, each once. Call it inside a transaction. @returns whether more may be left
 */
export function createShowing(db: DatabaseSync): () => boolean {
  const readPlace = db.prepare(`SELECT ${SHOWN} AS shown, (SELECT max(seq) FROM book_lines) AS last`);
  const countNew = db.prepare(`SELECT count(*) AS count FROM ${NEW}`);
  const addIds = db.prepare(IDS);
  const leaveOut = db.prepare(REPEATED);
  const steps = STEPS.map((sql) => db.prepare(sql));
  const visits = db.prepare(`SELECT DISTINCT l.at / ${HOUR_MS} AS hour, p.id AS payer
    FROM book_lines l CROSS JOIN book_payers p ON p.payer = l.payer WHERE l.seq > ?1 AND l.seq <= ?2 AND kind = 0`);
  const addVisits = createVisits(db);
  // A removed line frees its number, so that the place moves only up to the last line that is left.
  const writePlace = db.prepare(`INSERT INTO book_place SELECT 'shown', coalesce(max(seq), ?1) FROM ${NEW}
    ON CONFLICT (name) DO UPDATE SET value = excluded.value`);

  return () => {
    const { shown, last } = readPlace.get() as { shown: number; last: number | null };
    if (last === null || last <= shown) return false;
    const to = Math.min(last, shown + SHOW_STEP);
    const { count } = countNew.get(shown, to) as { count: number };
    if (addIds.run(shown, to).changes !== count) leaveOut.run(shown, to);
    for (const step of steps) step.run(shown, to);
    addVisits(visits.all(shown, to) as unknown as Parameters<typeof addVisits>[0]);
    writePlace.run(shown, to);
    return to < last;
  };
}
