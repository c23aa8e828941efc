import { isObject } from "../../core/json.ts";

/** Where two answers differ. */
export interface Difference {
  /** Like `items[0].price`; empty at the top. */
  readonly place: string;
  readonly expected: unknown;
  readonly found: unknown;
}

/** Every place where two JSON values differ. The side that lacks a field or item has undefined there. */
export function findDifferences(expected: unknown, found: unknown, place = ""): readonly Difference[] {
  if (Array.isArray(expected) && Array.isArray(found))
    return Array.from({ length: Math.max(expected.length, found.length) }).flatMap((_, at) =>
      findDifferences(expected[at], found[at], `${place}[${at}]`),
    );
  if (isObject(expected) && isObject(found))
    return [...new Set([...Object.keys(expected), ...Object.keys(found)])].flatMap((key) =>
      findDifferences(expected[key], found[key], place === "" ? key : `${place}.${key}`),
    );
  return Object.is(expected, found) ? [] : [{ place, expected, found }];
}

export const toComplaint = ({ place, expected, found }: Difference): string =>
  `${place || "the output"} is ${toText(found)}, but the example shows ${toText(expected)}`;

function toText(value: unknown): string {
  const text = JSON.stringify(value) ?? "absent";
  return text.length > 120 ? `${text.slice(0, 120)}…` : text;
}
