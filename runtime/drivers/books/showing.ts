import type { DatabaseSync } from "node:sqlite";
import { ATOMIC, NANO } from "./packing.ts";
import { HOUR_MS, keyOf, MINUTE_MS, partOf, SHOWN, UNITS } from "./schema.ts";
import { createVisits } from "./visits.ts";

/**
 * Lines per round. Each round adds random keys to trees with many pages: the more lines, the fewer page writes per line.
 */
export const SHOW_ROUND = 4096;
/** Rounds of at most so many lines take one step: about ten milliseconds of the thread, as each step of a larger one. */
const SHOW_STEP = 1024;

/** What is left: `round` should go on at once, `lines` may wait until there are more of them. */
export type LeftToShow = "round" | "lines" | "nothing";

const DAY_MS = UNITS.day * MINUTE_MS;

/** SQL of the lines of a step; ?1 is the number before its first line and ?2 that of its last line. */
const NEW = "book_lines l WHERE l.seq > ?1 AND l.seq <= ?2";

const toSums = (unit: number, ms: number): string => `
  INSERT INTO book_sums SELECT ${unit}, at / ${ms}, terms, kind, count(*), sum(giga), sum(rest), sum(nano)
  FROM (SELECT at, terms, kind, ${ATOMIC}, ${NANO} FROM ${NEW}) GROUP BY 2, 3, 4
  ON CONFLICT (unit, at, terms, kind) DO UPDATE SET
    count = count + excluded.count, giga = giga + excluded.giga, rest = rest + excluded.rest, nano = nano + excluded.nano`;

/** SQL of a column's values in four slices of bytes; texts are in the first one. @param before the bytes before those that differ */
const sliced = (column: string, before: string): readonly string[] => {
  const bounds = ["40", "80", "c0"].map((byte) => `x'${before}${byte}'`);
  return ["", ...bounds].map((from, at) => {
    const to = bounds[at];
    return [from && `${column} >= ${from}`, to && `${column} < ${to}`].filter(Boolean).join(" AND ");
  });
};

/** The first line of an id counts. Each slice of the ids is in pages of its own. */
const IDS = sliced("id", "00").map(
  (slice) => `INSERT OR IGNORE INTO book_ids SELECT id, seq FROM ${NEW} AND ${slice} ORDER BY id, seq`,
);
const REPEATED = `DELETE FROM book_lines AS l WHERE l.seq > ?1 AND l.seq <= ?2
  AND NOT EXISTS (SELECT 1 FROM book_ids i WHERE i.id = l.id AND i.seq = l.seq)`;

const toKeys = (column: string, slice = "true"): string =>
  `INSERT OR IGNORE INTO book_keys SELECT ${partOf("seq")}, ${keyOf(column)}, seq FROM ${NEW} AND ${column} IS NOT NULL
    AND ${slice} ORDER BY 1, 2, 3`;
const KEYS = [
  ...sliced("tx", "").map((slice) => toKeys("tx", slice)),
  ...["request", "job", "sale"].map((name) => toKeys(name)),
];

/** Writes what queries need of the new lines. Rows are sorted, since neighbours share pages. */
const REST = [
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

/** The lines after `from` up to `to`, which are made visible together. Kept in `book_place`, so that any process can go on. */
interface Round {
  /** The number of the last line that queries see. */
  readonly from: number;
  readonly to: number;
  /** How many steps are done. */
  readonly step: number;
  /** How many ids were new. */
  readonly added: number;
}

interface Place {
  readonly shown: number;
  readonly last: number;
  /** A round as JSON. */
  readonly round: string | null;
}

/**
 * Makes the next lines visible to queries, each once: a step at a time, all steps at once where there are few lines. Call
 * it inside a transaction. What was done of a round may be done again: other processes may show its lines meanwhile.
 */
export function createShowing(db: DatabaseSync): () => LeftToShow {
  const readPlace = db.prepare(`SELECT ${SHOWN} AS shown, coalesce((SELECT max(seq) FROM book_lines), 0) AS last,
    (SELECT value FROM book_place WHERE name = 'round') AS round`);
  const writePlace = db.prepare(
    "INSERT INTO book_place VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  const endRound = db.prepare("DELETE FROM book_place WHERE name = 'round'");
  const countNew = db.prepare(`SELECT count(*) AS count FROM ${NEW}`);
  const addIds = IDS.map((sql) => db.prepare(sql));
  const leaveOut = db.prepare(REPEATED);
  const addKeys = KEYS.map((sql) => db.prepare(sql));
  const addRest = REST.map((sql) => db.prepare(sql));
  const visits = db.prepare(`SELECT DISTINCT l.at / ${HOUR_MS} AS hour, p.id AS payer
    FROM book_lines l CROSS JOIN book_payers p ON p.payer = l.payer WHERE l.seq > ?1 AND l.seq <= ?2 AND kind = 0`);
  const addVisits = createVisits(db);
  const place = (): Place => readPlace.get() as unknown as Place;

  return () => {
    const { shown, last, round: kept } = place();
    if (last <= shown) return "nothing";
    const begun = kept === null ? undefined : (JSON.parse(kept) as Round); // We wrote it.
    let round =
      begun?.from === shown && begun.to <= last
        ? begun
        : { from: shown, to: Math.min(last, shown + SHOW_ROUND), step: 0, added: 0 };
    const isSmall = round.to - shown <= SHOW_STEP;
    do round = advance(round);
    while (isSmall && round.from < round.to);
    if (round.from < round.to) {
      writePlace.run("round", JSON.stringify(round));
      return "round";
    }
    endRound.run();
    const left = place().last - round.from;
    return left >= SHOW_ROUND ? "round" : left > 0 ? "lines" : "nothing";
  };

  function advance({ from, to, step, added }: Round): Round {
    const ids = addIds[step];
    if (ids) return { from, to, step: step + 1, added: added + Number(ids.run(from, to).changes) };
    const keys = addKeys[step - addIds.length - 1];
    keys?.run(from, to);
    if (keys) return { from, to, step: step + 1, added };
    if (step === addIds.length) {
      const { count } = countNew.get(from, to) as { count: number };
      if (added !== count) leaveOut.run(from, to);
      // Where the last lines were removed, their numbers are given again.
      return { from, to: Math.max(from, Math.min(to, place().last)), step: step + 1, added };
    }
    const next = Math.min(to, from + SHOW_STEP);
    for (const statement of addRest) statement.run(from, next);
    addVisits(visits.all(from, next) as unknown as Parameters<typeof addVisits>[0]);
    writePlace.run("shown", String(next));
    return { from: next, to, step, added };
  }
}
