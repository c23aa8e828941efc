import { isObject } from "../../../runtime/core/json.ts";

/** Values of about `bytes` bytes of JSON that are costly to parse, copy, check, report or canonicalize. */
const VALUES: Readonly<Record<string, (bytes: number) => unknown>> = {
  "a long text": (bytes) => "x".repeat(bytes),
  "a text of digits": (bytes) => "9".repeat(bytes),
  "a text of emoji": (bytes) => "\u{1f600}".repeat(bytes / 4),
  "a text of lone surrogates": (bytes) => "\ud800".repeat(bytes / 6),
  "many short keys": toManyKeys,
  "many keys against the order": (bytes) =>
    Object.fromEntries(Array.from({ length: bytes / 12 }, (_, at) => [`k${9e5 - at}`, 0])),
  "a list of numbers": (bytes) => fill(bytes / 2, 1),
  "a list of texts": (bytes) => fill(bytes / 3, ""),
  "a list of fields": (bytes) => fill(bytes / 8, { a: 1 }),
  "deep lists, side by side": (bytes) => fill(bytes / 121, nest(60)),
};

/** What `JSON.parse` needs the most time for. */
export function toManyKeys(bytes: number): object {
  return Object.fromEntries(Array.from({ length: bytes / 9 }, (_, at) => [at.toString(36), 0]));
}

const fill = (length: number, value: unknown): unknown[] => Array(Math.floor(length)).fill(value);
const nest = (depth: number): unknown => (depth === 0 ? [] : [nest(depth - 1)]);

/** Inputs of about `bytes` bytes: each hostile value in each field of the schema, in an unknown one, and as fields. */
export function* toHostileInputs(
  schema: Readonly<Record<string, unknown>>,
  example: object,
  bytes: number,
): Generator<{ readonly title: string; readonly input: unknown }> {
  const fields = [...Object.keys(isObject(schema.properties) ? schema.properties : {}), "unknown"];
  for (const [title, make] of Object.entries(VALUES)) {
    const value = make(bytes);
    for (const field of fields) yield { title: `${title} as ${field}`, input: { ...example, [field]: value } };
    if (Array.isArray(value)) yield { title: `${title} as the body`, input: value };
    else if (isObject(value)) yield { title: `${title} as unknown fields`, input: { ...example, ...value } };
  }
}
