import type { Temporal } from "temporal-polyfill";
import type { Confidence } from "../reading.ts";

/** A day that a text names by the calendar or relative to today. */
export interface NamedDay {
  readonly date: Temporal.PlainDate;
  readonly confidence: Confidence;
  /** The last second of the day is meant, unless the text has a time. */
  readonly isEnd?: boolean;
}

/** A pattern over plainly spelled text, and the day that its named groups mean; undefined when they mean none. */
export type DayRule = readonly [
  pattern: RegExp,
  toDay: (groups: Readonly<Record<string, string>>, today: Temporal.PlainDate) => NamedDay | undefined,
];
