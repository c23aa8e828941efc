import type { DatabaseSync } from "node:sqlite";
import type { Books, BuyerSum, TallySum } from "../../core/books/books.ts";
import type { Door } from "../../core/books/events.ts";
import { createFeeQuestions } from "./fees.ts";
import { createFeeGroups, createGroups } from "./groups.ts";
import { createLineQuestions } from "./lines.ts";
import { unpackHex } from "./packing.ts";
import { MINUTE_MS, UNITS } from "./schema.ts";
import { cutSpan, selectSpans, unitsOf } from "./spans.ts";
import { createSums } from "./sums.ts";
import { createVisitCount } from "./visits.ts";

/** The queries that read the tables. */
export type BookQuestions = Omit<Books, "refresh" | "close">;

const HOUR_MS = UNITS.hour * MINUTE_MS;

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
    tallies({ from, to }, { service, bucketMs } = {}) {
      const units = unitsOf([UNITS.day, UNITS.hour, UNITS.minute], bucketMs);
      const { sql, values } = selectSpans("book_counts", "name, count", cutSpan({ from, to }, units));
      const bucket = bucketMs === undefined ? `${from}` : `at / ${bucketMs} * ${bucketMs}`;
      const counted = db.prepare(`SELECT at, service, door, rail, what, count FROM (
          SELECT ${bucket} AS at, name, sum(count) AS count FROM (${sql}) GROUP BY 1, 2
        ) JOIN book_names ON id = name ${service === undefined ? "" : "WHERE service = ?"}`);
      counted.setReturnArrays(true); // A month has ten thousands of rows.
      const rows = counted.all(...values, ...(service === undefined ? [] : [service]));
      return rows.map(toTally);
    },
  };
}

function toTally(row: unknown): TallySum {
  const [at, service, door, rail, what, count] = row as [number, string, Door, string, string, number];
  return { at, service, door, rail, what, count };
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
