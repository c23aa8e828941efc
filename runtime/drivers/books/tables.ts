import type { DatabaseSync } from "node:sqlite";
import type { BookEvent, BookTally } from "../../core/books/events.ts";
import { createForgetting, type Forget } from "./forgetting.ts";
import { createLineWriter } from "./line-writer.ts";
import { createShowing } from "./showing.ts";
import { createTallyWriter } from "./tally-writer.ts";
import { wholly } from "./transactions.ts";

/** Takes events into the tables. To be called inside a transaction. */
export interface BookTables {
  /** Enters an event: one small row, which is shown later. */
  enter(event: BookEvent): void;
  /** Shows some of what was entered, each id once. @returns whether there may be more */
  show(): boolean;
  /** Enters and shows events. All or none. */
  take(events: readonly BookEvent[]): void;
  count(tallies: readonly BookTally[]): void;
  readonly forget: Forget;
}

export function createBookTables(db: DatabaseSync): BookTables {
  const enter = createLineWriter(db);
  const show = createShowing(db);
  const count = createTallyWriter(db);
  return {
    enter,
    show: () => wholly(db, show),
    take: (events) =>
      wholly(db, () => {
        for (const event of events) enter(event);
        while (show());
      }),
    count: (tallies) => wholly(db, () => count(tallies)),
    forget: createForgetting(db),
  };
}
