import { Temporal } from "temporal-polyfill";
import { type Confidence, checkWeekday, lower, type Reading, toReading, unclear } from "../reading.ts";
import { type DayPart, takePart, toHour } from "./day-parts.ts";
import { takeDay } from "./days.ts";
import { recognize, type Said } from "./recognize.ts";

const LAST_SECOND = Temporal.PlainTime.from("23:59:59");
const YEARS_AHEAD = 8; // A leap day can be that far away.

/**
 * A day in words or figures, a time of day, or both. @param text plainly spelled and without a zone. @param now in the
 * zone of the text. @param asked today where the question is asked: "tomorrow in Tokyo" is a guess while the dates differ.
 * @throws Problem `unparseable-input` when a part of the text is not understood; RangeError when the day does not exist.
 */
export async function readWords(
  text: string,
  now: Temporal.ZonedDateTime,
  asked: Temporal.PlainDate,
): Promise<Reading> {
  const today = now.toPlainDate();
  const { part, rest } = takePart(text);
  const day = takeDay(rest, today);
  const said = await recognize(day?.rest ?? rest);
  const time = toTime(said, part) ?? (day?.isEnd ? { time: LAST_SECOND, confidence: "medium" as const } : undefined);
  const isSameDay = today.equals(asked) || !day || takeDay(rest, asked)?.date.equals(day.date);
  const isGuess = said.hasShortYear || !isSameDay;
  const confidence = lower(
    lower(day?.confidence ?? "medium", time?.confidence ?? "medium"),
    isGuess ? "low" : "medium",
  );
  const { dates, isOpen } = toDates(said, today, time !== undefined);
  const readings = dates.map((date) => toReading(date, time?.time, now.timeZoneId, isOpen ? "low" : confidence));
  const isOver = ({ at, wholeDay }: Reading): boolean =>
    Temporal.ZonedDateTime.compare(at, wholeDay ? now.startOfDay() : now) < 0;
  const found = isOpen ? readings.find((reading) => !isOver(reading)) : readings[0];
  if (!found) throw unclear("The text names no day");
  return found;
}

/** The dates that can be meant: one, or, where the text leaves the year or the day open, several in their order. */
function toDates(said: Said, today: Temporal.PlainDate, hasTime: boolean): Dates {
  const { year, month, day, weekday } = said;
  if (month !== undefined && day !== undefined) {
    if (year === undefined) return { isOpen: true, dates: yearly(today.year, month, day, weekday) };
    const date = Temporal.PlainDate.from({ year, month, day }, { overflow: "reject" });
    if (weekday !== undefined) checkWeekday(date, weekday);
    return { isOpen: false, dates: [date] };
  }
  if ((year ?? month ?? day) !== undefined) return { isOpen: true, dates: [] };
  const days = Array.from({ length: 8 }, (_, i) => today.add({ days: i }));
  if (weekday === undefined) return { isOpen: true, dates: hasTime ? days.slice(0, 2) : [] };
  return { isOpen: today.dayOfWeek === weekday, dates: days.filter(({ dayOfWeek }) => dayOfWeek === weekday) };
}

interface Dates {
  readonly dates: readonly Temporal.PlainDate[];
  /** Which of them is meant has to be assumed: the first that is not over. */
  readonly isOpen: boolean;
}

function yearly(first: number, month: number, day: number, weekday: number | undefined): Temporal.PlainDate[] {
  const years = Array.from({ length: YEARS_AHEAD + 1 }, (_, i) => first + i);
  const dates = years.map((year) => Temporal.PlainDate.from({ year, month, day }));
  return dates.filter((date) => date.day === day && (weekday === undefined || date.dayOfWeek === weekday));
}

/** The time of day; a guess when am or pm is left open, or when there is only a part of the day. */
function toTime(
  said: Said,
  part: DayPart | undefined,
): { time: Temporal.PlainTime; confidence: Confidence } | undefined {
  const { time, isExact } = said;
  if (!time) return part && { time: Temporal.PlainTime.from({ hour: part.hour }), confidence: "low" };
  if (!part) return { time, confidence: said.isUnambiguous ? "medium" : "low" };
  return { time: time.with({ hour: toHour(time.hour, isExact, part) }), confidence: "medium" };
}
