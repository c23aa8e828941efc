import { Temporal } from "temporal-polyfill";

type Unit = "years" | "months" | "days" | "hours" | "minutes" | "seconds";

/** The words for each unit, and the unit that Temporal counts it in. */
const UNITS: readonly (readonly [words: string, unit: Unit, factor: number])[] = [
  ["centur(?:y|ies)", "years", 100],
  ["decades?", "years", 10],
  ["years?|yrs?|y", "years", 1],
  ["quarters?", "months", 3],
  ["months?|mos?|mths?", "months", 1],
  ["fortnights?", "days", 14],
  ["weeks?|wks?|w", "days", 7],
  ["days?|d", "days", 1],
  ["hours?|hrs?|h", "hours", 1],
  ["minutes?|mins?|m", "minutes", 1],
  ["seconds?|secs?|s", "seconds", 1],
];

/** The unit for a unit's fraction. Months have no fixed length, so they have no fractions. */
const FRACTIONS: Partial<Record<Unit, readonly [unit: Unit, factor: number]>> = {
  years: ["months", 12],
  days: ["hours", 24],
  hours: ["minutes", 60],
  minutes: ["seconds", 60],
};

/** The source of a regular expression for any unit. */
export const UNIT = `(?:${UNITS.map(([words]) => words).join("|")})`;
/** Not "10.000", which is ten thousand where the dot divides thousands. */
const NUMBER = "(?:0\\.\\d{1,3}|\\d{1,9}(?:\\.\\d{1,2})?)";
const AMOUNT = `(?:${NUMBER} ?-?|an? (?:full |whole )?)`;
const PART = `${AMOUNT}${UNIT}(?![a-z])`;
/** The source of a regular expression for a length of time: `1h30m`, `2 weeks and 3 days`. */
export const DURATION = `(?<![\\d.:])${PART}(?:(?: ?, ?| )?(?:and )?${PART})*`;

/** A length of time. */
export interface Duration {
  /** Calendar units. */
  readonly calendar: Temporal.Duration;
  /** Hours and smaller. */
  readonly clock: Temporal.Duration;
}

/** Reads a text that DURATION matches; undefined when a unit occurs twice or a fraction is not exact. */
export function readDuration(text: string): Duration | undefined {
  const units = new Map<Unit, number>();
  const seen = new Set<string>();
  for (const [, amount = "", word = ""] of text.matchAll(new RegExp(`(${AMOUNT})(${UNIT})(?![a-z])`, "g"))) {
    const [words = "", unit = "days", factor = 1] =
      UNITS.find(([names]) => new RegExp(`^(?:${names})$`).test(word)) ?? [];
    const count = amount.startsWith("a") ? 1 : Number.parseFloat(amount);
    if (seen.has(words) || !add(units, unit, count * factor)) return undefined;
    seen.add(words);
  }
  const of = (unit: Unit): number => units.get(unit) ?? 0;
  const calendar = Temporal.Duration.from({ years: of("years"), months: of("months"), days: of("days") });
  const clock = Temporal.Duration.from({ hours: of("hours"), minutes: of("minutes"), seconds: of("seconds") });
  return { calendar, clock };
}

/** Adds an amount, its fraction in the next smaller unit; false when that is not exact. */
function add(units: Map<Unit, number>, unit: Unit, amount: number): boolean {
  const whole = Math.trunc(amount + 1e-9);
  const fraction = amount - whole;
  units.set(unit, (units.get(unit) ?? 0) + whole);
  if (fraction < 1e-6) return true;
  const [smaller, factor] = FRACTIONS[unit] ?? [];
  return smaller !== undefined && factor !== undefined && add(units, smaller, fraction * factor);
}
