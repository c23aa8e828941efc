import { Temporal } from "temporal-polyfill";
import type { DayRule } from "./day.ts";
import { toYears } from "./periods.ts";

type OfYear = (year: number) => Temporal.PlainDate;

interface Holiday {
  /** The source of a regular expression. */
  readonly names: string;
  readonly ofYear: OfYear;
  /** The country whose rule it is, when countries differ. */
  readonly rule?: string;
}

const fixed =
  (month: number, day: number): OfYear =>
  (year) =>
    Temporal.PlainDate.from({ year, month, day });

/** The nth weekday (1 = Monday) of a month; -1 is the last one. */
const nth =
  (count: number, weekday: number, month: number): OfYear =>
  (year) => {
    const first = Temporal.PlainDate.from({ year, month, day: 1 });
    if (count < 0) {
      const last = first.with({ day: first.daysInMonth });
      return last.subtract({ days: (last.dayOfWeek - weekday + 7) % 7 });
    }
    return first.add({ days: ((weekday - first.dayOfWeek + 7) % 7) + 7 * (count - 1) });
  };

/** Western Easter Sunday (the anonymous Gregorian algorithm), moved by some days. */
const easter =
  (days: number): OfYear =>
  (year) => {
    const [golden, century, rest] = [year % 19, Math.floor(year / 100), year % 100];
    const correction = Math.floor((century - Math.floor((century + 8) / 25) + 1) / 3);
    const epact = (19 * golden + century - Math.floor(century / 4) - correction + 15) % 30;
    const weekday = (32 + 2 * (century % 4) + 2 * Math.floor(rest / 4) - epact - (rest % 4)) % 7;
    const late = Math.floor((golden + 11 * epact + 22 * weekday) / 451);
    const count = epact + weekday - 7 * late + 114;
    return Temporal.PlainDate.from({ year, month: Math.floor(count / 31), day: (count % 31) + 1 }).add({ days });
  };

const after =
  (days: number, ofYear: OfYear): OfYear =>
  (year) =>
    ofYear(year).add({ days });

const USA = "the rule of the United States";
const THANKSGIVING = nth(4, 4, 11);

const HOLIDAYS: readonly Holiday[] = [
  { names: "(?:christmas|xmas)(?:'s)? eve", ofYear: fixed(12, 24) },
  { names: "(?:christmas|xmas)(?: day)?", ofYear: fixed(12, 25) },
  { names: "boxing day|st\\.? stephen'?s day", ofYear: fixed(12, 26) },
  { names: "new year'?s'? eve|nye|silvester|hogmanay", ofYear: fixed(12, 31) },
  { names: "new year'?s?'?(?: day)?", ofYear: fixed(1, 1) },
  { names: "epiphany|three kings'? day", ofYear: fixed(1, 6) },
  { names: "(?:martin luther king|mlk)(?:,? jr\\.?)?(?:'s)? day", ofYear: nth(3, 1, 1), rule: USA },
  { names: "groundhog day", ofYear: fixed(2, 2) },
  { names: "(?:st\\.? )?valentine'?s?'?(?: day)?", ofYear: fixed(2, 14) },
  { names: "president'?s'? day|washington's birthday", ofYear: nth(3, 1, 2), rule: USA },
  { names: "international women'?s'? day", ofYear: fixed(3, 8) },
  { names: "pi day", ofYear: fixed(3, 14) },
  { names: "(?:st\\.?|saint) (?:patrick|paddy)'?s?(?: day)?", ofYear: fixed(3, 17) },
  { names: "april fool'?s?'?(?: day)?", ofYear: fixed(4, 1) },
  { names: "anzac day", ofYear: fixed(4, 25) },
  { names: "earth day", ofYear: fixed(4, 22) },
  { names: "shrove tuesday|pancake day|mardi gras", ofYear: easter(-47) },
  { names: "ash wednesday", ofYear: easter(-46) },
  { names: "palm sunday", ofYear: easter(-7) },
  { names: "(?:maundy|holy) thursday", ofYear: easter(-3) },
  { names: "good friday", ofYear: easter(-2) },
  { names: "easter monday", ofYear: easter(1) },
  { names: "easter eve|holy saturday", ofYear: easter(-1) },
  { names: "easter(?: sunday| day)?", ofYear: easter(0), rule: "the western churches" },
  { names: "ascension(?: day)?", ofYear: easter(39) },
  { names: "whit monday|pentecost monday", ofYear: easter(50) },
  { names: "pentecost|whit ?sunday", ofYear: easter(49) },
  { names: "corpus christi", ofYear: easter(60) },
  { names: "may day|international workers'? day", ofYear: fixed(5, 1) },
  { names: "star wars day", ofYear: fixed(5, 4) },
  { names: "cinco de mayo", ofYear: fixed(5, 5) },
  { names: "ve day", ofYear: fixed(5, 8) },
  { names: "mother'?s'? day", ofYear: nth(2, 7, 5), rule: USA },
  { names: "memorial day", ofYear: nth(-1, 1, 5), rule: USA },
  { names: "father'?s'? day", ofYear: nth(3, 7, 6), rule: USA },
  { names: "juneteenth", ofYear: fixed(6, 19) },
  { names: "canada day", ofYear: fixed(7, 1) },
  { names: "(?:us )?independence day", ofYear: fixed(7, 4), rule: USA },
  { names: "bastille day", ofYear: fixed(7, 14) },
  { names: "labor day", ofYear: nth(1, 1, 9), rule: USA },
  { names: "labour day", ofYear: fixed(5, 1), rule: "1 May, outside of North America and Australia" },
  { names: "columbus day|indigenous people'?s'? day", ofYear: nth(2, 1, 10), rule: USA },
  { names: "canadian thanksgiving", ofYear: nth(2, 1, 10) },
  { names: "hallowe'?en", ofYear: fixed(10, 31) },
  { names: "all saints'? day", ofYear: fixed(11, 1) },
  { names: "(?:us )?election day", ofYear: after(1, nth(1, 1, 11)), rule: USA },
  { names: "guy fawkes day", ofYear: fixed(11, 5) },
  { names: "veterans?'?s? day", ofYear: fixed(11, 11), rule: USA },
  { names: "remembrance day|armistice day", ofYear: fixed(11, 11) },
  { names: "singles'? day", ofYear: fixed(11, 11) },
  { names: "thanksgiving(?: day)?|turkey day", ofYear: THANKSGIVING, rule: USA },
  { names: "black friday", ofYear: after(1, THANKSGIVING), rule: USA },
  { names: "cyber monday", ofYear: after(4, THANKSGIVING), rule: USA },
  { names: "(?:st\\.? )?nicholas day", ofYear: fixed(12, 6) },
];

const WHICH = "(?:(?<which>this|this coming|next|last|the next|the last|the) )?";
const YEAR = "(?:(?: ?◇)?,? (?:of |in )?(?<year>[1-9]\\d{3}(?![:\\d])|(?:this|next|last) year)| ?'(?<short>\\d\\d))?";

/** Named days, with the country's rule among the assumptions. Without a year: the next one that is not over. */
export const HOLIDAY_RULES: readonly DayRule[] = HOLIDAYS.map(({ names, ofYear, rule }) => [
  new RegExp(`\\b(?:(?:on|at|for) )?${WHICH}(?:${names})(?![a-z'])${YEAR}`),
  ({ which, year, short }, today) => {
    const assumptions = rule === undefined ? [] : [`The day follows ${rule}`];
    const years = toYears(today, short === undefined ? year : `'${short}`);
    const isNamed = years.length === 1;
    if (/last/.test(which ?? "") && !isNamed) {
      const past = [today.year, today.year - 1].map(ofYear).find((day) => Temporal.PlainDate.compare(day, today) < 0);
      return past && { dates: [past], assumptions };
    }
    const open = isNamed ? [] : ["The next one that is not over is taken"];
    return { dates: years.map(ofYear), assumptions: [...assumptions, ...open] };
  },
]);
