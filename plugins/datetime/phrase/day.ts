import type { Temporal } from "temporal-polyfill";
import type { Reading } from "../reading.ts";

/** The day that a piece of text names. */
export interface NamedDay {
  /** One date, or several, of which the first that is not over is meant. */
  readonly dates: readonly Temporal.PlainDate[];
  readonly assumptions?: readonly string[];
  /** Whether the last second of the day is meant, unless the text has a time. */
  readonly isEnd?: boolean;
  /** Whether the time of day is the current one, unless the text has a time: "in 3 business days". */
  readonly keepsClock?: boolean;
}

export interface PhraseContext {
  /** Now, in the zone of the text. */
  readonly now: Temporal.ZonedDateTime;
  /** Today in the zone of the request: it may differ from today in the zone of the text. */
  readonly asked: Temporal.PlainDate;
  /** How deeply this phrase is nested in others. */
  readonly depth: number;
}

/** Reads the phrase that another one counts from. */
export type ReadAnchor = (text: string) => Reading;

export type Groups = Readonly<Record<string, string>>;

/** A pattern over text in plain spelling, and the day that its groups mean; undefined when they mean none. */
export type DayRule = readonly [
  pattern: RegExp,
  toDay: (groups: Groups, today: Temporal.PlainDate, anchor: ReadAnchor) => NamedDay | undefined,
];

/** A single date with its assumptions. */
export const toDay = (date: Temporal.PlainDate, ...assumptions: readonly string[]): NamedDay => ({
  dates: [date],
  assumptions,
});

/** The assumption of moving a day by years and months, where the month that it leads to is too short; else none. */
export function explainClamp(
  day: Temporal.PlainDate,
  { years = 0, months = 0 }: { readonly years?: number; readonly months?: number },
): readonly string[] {
  const moved = day.add({ years, months });
  return moved.day === day.day ? [] : [`${moved.toPlainYearMonth()} has no day ${day.day}; its last day is taken`];
}
