import { Temporal } from "temporal-polyfill";
import type { Confidence } from "./reading.ts";

/** Abbreviations that mean one offset. */
const OFFSETS: Readonly<Record<string, string>> = {
  utc: "+00:00",
  gmt: "+00:00",
  est: "-05:00",
  edt: "-04:00",
  cdt: "-05:00",
  mst: "-07:00",
  mdt: "-06:00",
  pst: "-08:00",
  pdt: "-07:00",
  akst: "-09:00",
  akdt: "-08:00",
  hst: "-10:00",
  cet: "+01:00",
  cest: "+02:00",
  eet: "+02:00",
  eest: "+03:00",
  msk: "+03:00",
  sgt: "+08:00",
  hkt: "+08:00",
  awst: "+08:00",
  jst: "+09:00",
  kst: "+09:00",
  aest: "+10:00",
  aedt: "+11:00",
  nzst: "+12:00",
  nzdt: "+13:00",
};

/** Abbreviations of several meanings, with the one that is assumed. */
const AMBIGUOUS: Readonly<Record<string, string>> = { cst: "-06:00", bst: "+01:00", ist: "+05:30" };

/** Names of zones in American English. */
const AMERICAN: Readonly<Record<string, string>> = {
  et: "America/New_York",
  ct: "America/Chicago",
  mt: "America/Denver",
  pt: "America/Los_Angeles",
  eastern: "America/New_York",
  central: "America/Chicago",
  mountain: "America/Denver",
  pacific: "America/Los_Angeles",
};

/** The canonical spelling of an IANA zone name; undefined when there is no such zone. */
export function toZone(name: string): string | undefined {
  if (!/^[a-z][\w+/-]*$/i.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

/** A zone that a text names, and the text without it. */
export interface ZoneInText {
  /** An IANA name, or an offset like `+05:30`. */
  readonly zone: string;
  readonly rest: string;
  /** `low` when the abbreviation has several meanings. */
  readonly confidence: Confidence;
}

interface Found {
  readonly zone: string | undefined;
  readonly isGuess?: boolean;
}

const offset = (hours = "", minutes = "00"): Found => ({ zone: toOffset(hours, minutes) });
const place = (name = ""): Found => ({ zone: placesByName().get(name) });
const abbreviation = (name = ""): Found => ({
  zone: OFFSETS[name] ?? AMBIGUOUS[name] ?? AMERICAN[name],
  isGuess: name in AMBIGUOUS,
});

const FORMS: readonly (readonly [RegExp, (...groups: readonly string[]) => Found])[] = [
  [/(?<=^| )([a-z]+(?:\/[a-z_+-]+\d*){1,2})(?= |,|$)/, (name = "") => ({ zone: toZone(name) })],
  [/\b(?:utc|gmt) ?([+-]\d{1,2})(?::?(\d\d))?(?!\S)/, offset],
  // A minus with a colon would be the end of a span of time, as in 10:30-11:30.
  [/(?<=:\d\d|[ap]m) ?(?:([+-]\d\d)(\d\d)|(\+\d\d):(\d\d))(?!\S)/, (...two) => offset(...two.filter(Boolean))],
  ...[3, 2, 1].map((words) => [new RegExp(`(?:\\bin )?\\b((?:[a-z]+ ){${words - 1}}[a-z]+) time\\b`), place] as const),
  [new RegExp(`\\b(${[OFFSETS, AMBIGUOUS, AMERICAN].flatMap(Object.keys).join("|")})\\b`), abbreviation],
];

/** The zone that a text names; undefined when it names none. @param text in lower case. */
export function takeZone(text: string): ZoneInText | undefined {
  for (const [pattern, find] of FORMS) {
    const match = pattern.exec(text);
    if (!match) continue;
    const { zone, isGuess } = find(...match.slice(1));
    if (!zone) continue;
    const rest = `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`
      .replaceAll(/ +/g, " ")
      .trim();
    return { zone, rest, confidence: isGuess ? "low" : "high" };
  }
  return undefined;
}

function toOffset(hours: string, minutes: string): string | undefined {
  const sign = hours.slice(0, 1);
  const digits = hours.slice(1).padStart(2, "0");
  return Number(digits) <= 14 && Number(minutes) < 60 ? `${sign}${digits}:${minutes}` : undefined;
}

let places: ReadonlyMap<string, string> | undefined;

/** Zones by the lower-case names of their cities, and by those of America's zones. */
function placesByName(): ReadonlyMap<string, string> {
  places ??= new Map([
    ...Intl.supportedValuesOf("timeZone").map(
      (zone) => [zone.replace(/^.*\//, "").replaceAll("_", " ").toLowerCase(), zone] as const,
    ),
    ...Object.entries(AMERICAN),
  ]);
  return places;
}
