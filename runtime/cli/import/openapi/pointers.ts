import { isObject, type JsonObject, unescapeStep } from "../../../core/json.ts";
import { Refused } from "../imported.ts";

/** Follows the references of one document. */
export interface Pointers {
  /** The value at `#/…`; undefined when there is none. */
  at(reference: string): unknown;
  /**
   * The value itself, or the value that it references. @throws Refused for a reference that leads nowhere or in
   * circles.
   */
  follow(value: unknown): unknown;
  /** Like `follow`, for a value that must be an object; any other value becomes an empty object. */
  object(value: unknown): JsonObject;
  /** Like `object`; a value that cannot be followed becomes an empty object, too. */
  tryObject(value: unknown): JsonObject;
}

const MOST_STEPS = 32;

/** @param document with references into itself only (RFC 6901, section 6). */
export function createPointers(document: JsonObject): Pointers {
  /** @param left how many references may still be followed */
  const find = (reference: string, left: number): unknown => {
    if (reference === "#") return document;
    if (!reference.startsWith("#/")) return undefined;
    let value: unknown = document;
    for (const step of reference.slice(2).split("/")) {
      const key = unescapeStep(tryDecode(step));
      // A reference's own siblings come first: schemas of OpenAPI 3.1 may have `$defs` beside a `$ref` into them.
      value = isInside(value, key) ? value[key] : childOf(followWithin(value, left), key);
    }
    return value;
  };
  const followWithin = (value: unknown, most: number): unknown => {
    let found = value;
    for (let left = most; isObject(found) && typeof found.$ref === "string"; left--) {
      const reference = found.$ref;
      found = left > 0 ? find(reference, left - 1) : undefined;
      if (found === undefined) throw new Refused(`its reference ${reference} leads nowhere`);
    }
    return found;
  };
  const follow = (value: unknown): unknown => followWithin(value, MOST_STEPS);
  const object = (value: unknown): JsonObject => {
    const found = follow(value);
    return isObject(found) ? found : {};
  };
  const tryObject = (value: unknown): JsonObject => {
    try {
      return object(value);
    } catch {
      return {};
    }
  };
  return { at: (reference) => find(reference, MOST_STEPS), follow, object, tryObject };
}

const isInside = (value: unknown, key: string): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && Object.hasOwn(value, key);

const childOf = (value: unknown, key: string): unknown => (isInside(value, key) ? value[key] : undefined);

/** A text without percent-encoding; a malformed one is left as it is. */
export function tryDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
