import type { TallyNames } from "../../../runtime/core/books/tallies.ts";
import type { AnswerWay } from "../../../runtime/core/notes/answers.ts";
import type { CallCounters } from "../../../runtime/core/payments/count-calls.ts";
import { inCall } from "../../../runtime/drivers/store/cache-reads.ts";

/** Counters that keep what they are told. */
export function recordCounts() {
  const counted: TallyNames[] = [];
  const refused: [payer: string, what: string][] = [];
  const answered: AnswerWay[] = [];
  /** The sale of each of them. */
  const sales: string[] = [];
  const counters: CallCounters = {
    tallies: {
      count: (names) => counted.push(names),
      end: (names, whats) => counted.push(...whats.map((what) => ({ ...names, what }))),
    },
    refusals: { note: (payer, what) => refused.push([payer, what]) },
    answers: {
      note(sale, _begun, way) {
        answered.push(way);
        sales.push(sale);
      },
    },
    inCall,
  };
  const clear = (): void => {
    for (const each of [counted, refused, answered, sales]) each.length = 0;
  };
  return { counters, counted, refused, answered, sales, clear };
}
