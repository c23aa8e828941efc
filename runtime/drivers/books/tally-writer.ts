import type { DatabaseSync } from "node:sqlite";
import type { BookTally } from "../../core/books/events.ts";
import { UNITS } from "./schema.ts";

/** Adds tallies up, by minute, hour and day. */
export function createTallyWriter(db: DatabaseSync): (tallies: readonly BookTally[]) => void {
  const find = db.prepare("SELECT id FROM book_names WHERE service = ? AND door = ? AND rail = ? AND what = ?");
  const name = db.prepare("INSERT INTO book_names (service, door, rail, what) VALUES (?, ?, ?, ?)");
  const add = db.prepare(
    "INSERT INTO book_counts VALUES (?, ?, ?, ?) ON CONFLICT (unit, at, name) DO UPDATE SET count = count + excluded.count",
  );
  return (tallies) => {
    for (const { minute, service, door, rail, what, count } of tallies) {
      const names = [service, door, rail, what] as const;
      const known = find.get(...names) as { id: number } | undefined;
      const id = known?.id ?? name.run(...names).lastInsertRowid;
      for (const unit of Object.values(UNITS)) add.run(unit, Math.floor(minute / unit), id, count);
    }
  };
}
