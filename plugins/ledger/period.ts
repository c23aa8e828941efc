import { Temporal } from "temporal-polyfill";

/** A time range in Unix seconds, both ends included. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** The time of the first block of Base: 2023-06-15T00:35:47Z. */
export const GENESIS_SECOND = 1_686_789_347;

/** The length of a UTC day. */
export const DAY_SECONDS = 86_400;

const DATE = /^\d{4}-\d\d-\d\d$/;
const DATETIME = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(Z|[+-]\d\d(?::?\d\d)?)?$/i;

/**
 * Reads an ISO 8601 date or datetime as Unix seconds; undefined for anything else. A datetime without an offset is UTC.
 * @param edge whether a date means its first or its last second. Fractions of a second are cut off.
 */
export function toSecond(text: string, edge: "first" | "last"): number | undefined {
  const [datetime, offset] = DATETIME.exec(text) ?? [];
  try {
    if (datetime !== undefined) return toUnix(Temporal.Instant.from(offset === undefined ? `${datetime}Z` : datetime));
    if (!DATE.test(text)) return undefined;
    const first = toUnix(Temporal.Instant.from(`${text}T00:00Z`));
    return edge === "first" ? first : first + DAY_SECONDS - 1;
  } catch {
    return undefined; // A RangeError: no such day or hour.
  }
}

/** `2026-11-21T00:00:00Z`. @param second Unix seconds. */
export const toIso = (second: number): string => new Date(second * 1000).toISOString().replace(".000Z", "Z");

/** `2026-11-21`, in UTC. @param second Unix seconds. */
export const toDate = (second: number): string => toIso(second).slice(0, 10);

const toUnix = ({ epochMilliseconds }: Temporal.Instant): number => Math.floor(epochMilliseconds / 1000);
