import type { DatabaseSync } from "node:sqlite";
import { packPayer } from "./filters.ts";

/**
 * Packs the payers of one hour: their numbers in ascending order, each as the difference to the one before (LEB128).
 * The distinct buyers of a year are then counted by reading one row per hour.
 */
function packPayers(payers: Iterable<number>): Uint8Array {
  const bytes: number[] = [];
  let last = 0;
  for (const payer of [...payers].sort((one, other) => one - other)) {
    let rest = payer - last;
    for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
    bytes.push(rest);
    last = payer;
  }
  return Uint8Array.from(bytes);
}

/** Calls `see` with each payer. */
function unpackPayers(packed: Uint8Array, see: (payer: number) => void): void {
  let [last, rest, scale] = [0, 0, 1];
  for (const byte of packed) {
    rest += (byte & 127) * scale;
    scale *= 128;
    if (byte > 127) continue;
    last += rest;
    see(last);
    [rest, scale] = [0, 1];
  }
}

/**
 * Counts the distinct payers of whole hours. @returns a function of the first hour, the hour after the last, and payers who
 * do not count
 */
export function createVisitCount(db: DatabaseSync): (from: number, to: number, own: readonly string[]) => number {
  const read = db.prepare("SELECT payers FROM book_visits WHERE hour >= ? AND hour < ?");
  const highest = db.prepare("SELECT coalesce(max(id), 0) AS id FROM book_payers");
  const find = db.prepare("SELECT id FROM book_payers WHERE payer = ?");
  return (from, to, own) => {
    const seen = new Uint8Array((highest.get() as { id: number }).id + 1);
    for (const payer of own) {
      const known = find.get(packPayer(payer)) as { id: number } | undefined;
      if (known) seen[known.id] = 1;
    }
    let count = 0;
    for (const { payers } of read.iterate(from, to))
      unpackPayers(payers as Uint8Array, (payer) => {
        count += seen[payer] === 0 ? 1 : 0;
        seen[payer] = 1;
      });
    return count;
  };
}

/** Adds payers to the hours in which they bought. */
export function createVisits(
  db: DatabaseSync,
): (visits: readonly { readonly hour: number; readonly payer: number }[]) => void {
  const read = db.prepare("SELECT payers FROM book_visits WHERE hour = ?");
  const write = db.prepare(
    "INSERT INTO book_visits VALUES (?, ?) ON CONFLICT (hour) DO UPDATE SET payers = excluded.payers",
  );
  return (visits) => {
    for (const [hour, inside] of Map.groupBy(visits, (visit) => visit.hour)) {
      const all = new Set(inside.map(({ payer }) => payer));
      const known = read.get(hour) as { payers: Uint8Array } | undefined;
      if (known) unpackPayers(known.payers, (payer) => all.add(payer));
      write.run(hour, packPayers(all));
    }
  };
}
