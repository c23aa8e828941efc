import type { DatabaseSync } from "node:sqlite";
import type { Books, BuyerSum, TallySum } from "../../core/books/books.ts";
import type { Door } from "../../core/books/events.ts";
import { createFeeQuestions } from "./fees.ts";
import { createFeeGroups, createGroups } from "./groups.ts";
import { createLineQuestions } from "./lines.ts";
import { unpackHex } from "./packing.ts";
import { HOUR_MS, UNITS } from "./schema.ts";
import { cutSpan, selectSpans } from "./spans.ts";
import { createSums } from "./sums.ts";
import { createVisitCount } from "./visits.ts";

/** The queries that read the tables. */
export type BookQuestions = Omit<Books, "refresh" | "close">;

/** Answers queries from the tables of a book. Every query blocks the thread. */
export function createBookQuestions(db: DatabaseSync): BookQuestions {
  const buyers = db.prepare(`SELECT ${unpackHex("payer")} AS payer, first_at AS firstAt, last_at AS lastAt, count, nano
    FROM book_payers ORDER BY nano DESC LIMIT ?`);
  buyers.setReadBigInts(true);
  const countVisits = createVisitCount(db);

  return {
    ...createLineQuestions(db),
    ...createFeeQuestions(db),
    sums: createSums(db),
    groups: createGroups(db),
    feeGroups: createFeeGroups(db),
    buyers: (limit) => buyers.all(limit).map(toBuyer),
    countBuyers: ({ from, to }, own) => countVisits(Math.floor(from / HOUR_MS), Math.ceil(to / HOUR_MS), own),
    tallies(span) {
      const spans = cutSpan(span, [UNITS.day, UNITS.hour, UNITS.minute]);
      const { sql, values } = selectSpans("book_counts", "name, count", spans);
      const counted = db.prepare(`SELECT service, door, rail, what, count FROM (
          SELECT name, sum(count) AS count FROM (${sql}) GROUP BY 1
        ) JOIN book_names ON id = name`);
      counted.setReturnArrays(true); // A month has ten thousands of rows.
      return counted.all(...values).map(toTally);
    },
  };
}

function toTally(row: unknown): TallySum {
  const [service, door, rail, what, count] = row as [string, Door, string, string, number];
  return { service, door, rail, what, count };
}

function toBuyer(row: object): BuyerSum {
  const { payer, firstAt, lastAt, count, nano } = row as Record<string, bigint>;
  return {
    payer: String(payer),
    firstAt: Number(firstAt),
    lastAt: Number(lastAt),
    count: Number(count),
    nanoUsd: nano as bigint,
  };
}
