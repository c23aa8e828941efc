import type { DatabaseSync } from "node:sqlite";
import type { BookEvent, BookTally } from "../../core/books/events.ts";
import type { FeeEvent } from "../../core/books/fees.ts";
import { createFeeWriter } from "./fees.ts";
import { createForgetting, type Forget } from "./forgetting.ts";
import { createLineWriter } from "./line-writer.ts";
import { UNITS } from "./schema.ts";
import { createShowing, type LeftToShow } from "./showing.ts";
import { wholly } from "./transactions.ts";

/** Writes to the tables. Call the methods inside a transaction. */
export interface BookTables {
  /** Enters an event: one small row, shown to queries later. A fee is visible at once. */
  enter(event: BookEvent | FeeEvent): void;
  /** Makes some entered events visible to queries, each id once. */
  show(): LeftToShow;
  /** Enters events and makes them visible: all or none. */
  take(events: readonly (BookEvent | FeeEvent)[]): void;
  count(tallies: readonly BookTally[]): void;
  readonly forget: Forget;
}

export function createBookTables(db: DatabaseSync): BookTables {
  const enterLine = createLineWriter(db);
  const enterFee = createFeeWriter(db);
  const enter: BookTables["enter"] = (event) => (event.kind === "fee" ? enterFee(event) : enterLine(event));
  const show = createShowing(db);
  const count = createTallyWriter(db);
  const forget = createForgetting(db);
  return {
    enter,
    show: () => wholly(db, show),
    take: (events) =>
      wholly(db, () => {
        for (const event of events) enter(event);
        while (show() !== "nothing");
      }),
    count: (tallies) => wholly(db, () => count(tallies)),
    forget: (before, tallyMinute) => wholly(db, () => forget(before, tallyMinute)),
  };
}

/** Adds tallies to the counts per minute, hour and day. */
function createTallyWriter(db: DatabaseSync): (tallies: readonly BookTally[]) => void {
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
