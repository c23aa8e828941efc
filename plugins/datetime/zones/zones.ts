import { Temporal } from "temporal-polyfill";
import { AMBIGUOUS, NAMED, OFFSETS, offsetOf } from "./abbreviations.ts";
import { AMERICAN, NOT_PLACES, PLACES, SHARED_NAMES } from "./places.ts";

/** The canonical spelling of an IANA zone name; undefined when there is no such zone. */
export function toZone(name: string): string | undefined {
  if (!/^[a-z][\w+/-]*$/i.test(name)) return undefined;
  try {
    return Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name).timeZoneId;
  } catch {
    return undefined;
  }
}

/** The zone that a text names, and the text without it. */
export interface ZoneInText {
  /** An IANA name, or an offset like `+05:30`; undefined when the text names no zone. */
  readonly zone: string | undefined;
  readonly rest: string;
  readonly assumptions: readonly string[];
}

type Found = Omit<ZoneInText, "rest">;

const toFound = (zone: string | undefined): Found => ({ zone, assumptions: [] });

function toPlace(name = ""): Found {
  const zone = NOT_PLACES.has(name) ? undefined : placesByName().get(name);
  if (zone === undefined || !SHARED_NAMES.has(name)) return toFound(zone);
  const written = name.replaceAll(/\b[a-z]/g, (letter) => letter.toUpperCase());
  return { zone, assumptions: [`${written} is taken as the one in the zone ${zone}; there are others of that name`] };
}

function toAbbreviated(name = ""): Found {
  const american = AMERICAN[name];
  if (american !== undefined) return toFound(american);
  const { offset, assumption } = offsetOf(name) ?? {};
  return { zone: offset === "Z" ? "+00:00" : offset, assumptions: assumption === undefined ? [] : [assumption] };
}

/** Behind "in Tokyo". */
const PLACE_END = "(?=$|,| (?:on|at|today|tomorrow|yesterday)\\b)";
const WORDS = "[a-z]+(?:[ -][a-z]+){0,2}";
/** A time of day, with the year or the date in digits right before it. */
const TIME = "(?:\\d{4}(?:[-./]\\d\\d){0,2},? )?\\b\\d{1,2}(?::\\d\\d){0,2} ?(?:[ap]m)?";
const SHORT = [OFFSETS, AMBIGUOUS, AMERICAN].flatMap(Object.keys).join("|");

const FORMS: readonly (readonly [RegExp, (...groups: readonly string[]) => Found])[] = [
  [/(?<=^| )(?:in )?\(?([a-z]+(?:\/[a-z_+-]+\d*){1,2})\)?(?= |,|$)/, (name = "") => toFound(toZone(name))],
  [
    /\(?\b(?:in )?(?:utc|gmt) ?([+-]\d{1,2})(?::?(\d\d))?\)?(?![^\s,])/,
    (hours, minutes) => toFound(toOffset(hours, minutes)),
  ],
  // A minus with a colon would be the end of a time range, as in 10:30-11:30; right behind an earlier time, any, but
  // not with a year before it, as programs write it.
  [
    new RegExp(`(?<=(${TIME}))(?<=:\\d\\d|[ap]m)( ?)(?:([+-]\\d\\d)(\\d\\d)|(\\+\\d\\d):(\\d\\d))(?![^\\s,])`),
    (time = "", space = "", ...two) => {
      const [hours = "", minutes = ""] = pair(two);
      const isEnd = space === "" && hours.startsWith("-") && isEarlier(time, hours.slice(1) + minutes);
      return toFound(isEnd ? undefined : toOffset(hours, minutes));
    },
  ],
  [new RegExp(`\\(?\\b(?:in )?(${Object.keys(NAMED).join("|")}) time\\b\\)?`), (name = "") => toFound(NAMED[name])],
  ...[3, 2, 1].map(
    (words) => [new RegExp(`(?:\\bin )?\\b((?:[a-z]+ ){${words - 1}}[a-z]+) time\\b`), toPlace] as const,
  ),
  ...[3, 2, 1].map((words) => [new RegExp(`\\bin ((?:[a-z]+ ){${words - 1}}[a-z]+)${PLACE_END}`), toPlace] as const),
  [new RegExp(`(?<=\\d ?[ap]m|:\\d\\d|noon|midnight) (${WORDS})$`), toPlace],
  ...[3, 2, 1].map(
    (words) =>
      [
        new RegExp(`(?<=\\d ?[ap]m|:\\d\\d|noon|midnight) ((?:[a-z]+ ){${words - 1}}[a-z]+)${PLACE_END}`),
        toPlace,
      ] as const,
  ),
  [new RegExp(`(?<=\\b(?:today|tomorrow|yesterday|[a-z]+day)) (${WORDS})$`), toPlace],
  [new RegExp(`\\(?\\b(?:in )?(${SHORT})(?: time)?\\b\\)?`), toAbbreviated],
];

/** Finds the zone that a text names. @param text plainly spelled. */
export function takeZone(text: string): ZoneInText {
  for (const [pattern, find] of FORMS) {
    const match = pattern.exec(text);
    const found = match ? find(...match.slice(1)) : undefined;
    if (!match || !found?.zone) continue;
    const rest = `${text.slice(0, match.index)} ${text.slice(match.index + match[0].length)}`;
    return { ...found, rest: rest.replaceAll(/ +/g, " ").trim() };
  }
  return { zone: undefined, rest: text, assumptions: [] };
}

const pair = (groups: readonly string[]): [string?, string?] => groups.filter(Boolean) as [string?, string?];

/** Whether a time of day, no date and no seconds, is earlier than four digits, on a 12-hour clock where it says am or pm. */
function isEarlier(time: string, other: string): boolean {
  const [, hour, minute = "00", meridiem] = /^(\d+)(?::(\d\d))? ?([ap]m)?$/.exec(time) ?? [];
  return (Number(hour) % (meridiem ? 12 : 24)) * 100 + Number(minute) < Number(other);
}

function toOffset(hours = "", minutes = "00"): string | undefined {
  const sign = hours.slice(0, 1);
  const digits = hours.slice(1).padStart(2, "0");
  return Number(digits) <= 14 && Number(minutes) < 60 ? `${sign}${digits}:${minutes}` : undefined;
}

let places: ReadonlyMap<string, string> | undefined;

/** Zones by the lower-case names of their cities, by further cities, and by the names of America's zones. */
function placesByName(): ReadonlyMap<string, string> {
  places ??= new Map([
    ...Intl.supportedValuesOf("timeZone").map(
      (zone) => [zone.replace(/^.*\//, "").replaceAll("_", " ").toLowerCase(), zone] as const,
    ),
    ...Object.entries(PLACES),
    ...Object.entries(AMERICAN),
  ]);
  return places;
}
