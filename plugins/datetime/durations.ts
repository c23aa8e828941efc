import { Temporal } from "temporal-polyfill";

type Unit = "years" | "months" | "days" | "hours" | "minutes" | "seconds";

/** Each unit in a unit that Temporal counts, by the words for it. */
const UNITS: readonly (readonly [words: string, unit: Unit, factor: number])[] = [
  ["years?|yrs?|y", "years", 1],
  ["quarters?", "months", 3],
  ["months?|mos?", "months", 1],
  ["fortnights?", "days", 14],
  ["weeks?|wks?|w", "days", 7],
  ["days?|d", "days", 1],
  ["hours?|hrs?|h", "hours", 1],
  ["minutes?|mins?|m", "minutes", 1],
  ["seconds?|secs?|s", "seconds", 1],
];

/** What a fraction of a unit is counted in. Months have no fixed length, so that they have no fractions. */
const FRACTIONS: Partial<Record<Unit, readonly [unit: Unit, factor: number]>> = {
  years: ["months", 12],
  days: ["hours", 24],
  hours: ["minutes", 60],
  minutes: ["seconds", 60],
};

/** The source of a regular expression for any unit's word. */
export const UNIT = `(?:${UNITS.map(([words]) => words).join("|")})`;
const AMOUNT = "(?:\\d{1,9}(?:\\.\\d{1,3})? ?|an? )";
/** The letters of the next unit may follow at once, as in 1h30m. */
const PART = new RegExp(`(${AMOUNT})(${UNIT})(?![a-z])(?: ?,? ?(?:and )?(?=${AMOUNT}${UNIT}(?![a-z])))?`, "y");

/** A length of time. */
export interface Span {
  /** Calendar units only. */
  readonly calendar: Temporal.Duration;
  /** Hours and smaller. */
  readonly clock: Temporal.Duration;
}

/** The length of time that a text begins with, and the text behind it. @param text in lower case, numbers in digits. */
export function readSpan(text: string): (Span & { readonly rest: string }) | undefined {
  const units = new Map<Unit, number>();
  const seen = new Set<string>();
  let end = 0;
  for (PART.lastIndex = 0; PART.lastIndex < text.length; ) {
    const [, amount = "", word = ""] = PART.exec(text) ?? [];
    if (word === "") break;
    end = PART.lastIndex;
    const [words = "", unit = "days", factor = 1] =
      UNITS.find(([names]) => new RegExp(`^(?:${names})$`).test(word)) ?? [];
    if (seen.has(words) || !add(units, unit, (amount.startsWith("a") ? 1 : Number(amount)) * factor)) return undefined;
    seen.add(words);
  }
  if (end === 0) return undefined;
  const of = (unit: Unit): number => units.get(unit) ?? 0;
  const calendar = Temporal.Duration.from({ years: of("years"), months: of("months"), days: of("days") });
  const clock = Temporal.Duration.from({ hours: of("hours"), minutes: of("minutes"), seconds: of("seconds") });
  return { calendar, clock, rest: text.slice(end).trim() };
}

/** Counts an amount, its fraction in the next smaller unit; false when that cannot be done exactly. */
function add(units: Map<Unit, number>, unit: Unit, amount: number): boolean {
  const whole = Math.trunc(amount + 1e-9);
  const fraction = amount - whole;
  units.set(unit, (units.get(unit) ?? 0) + whole);
  if (fraction < 1e-6) return true;
  const [smaller, factor] = FRACTIONS[unit] ?? [];
  return smaller !== undefined && factor !== undefined && add(units, smaller, fraction * factor);
}
