import { isObject, type JsonObject } from "../../../core/json.ts";
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
  const at = (reference: string): unknown => {
    if (reference === "#") return document;
    if (!reference.startsWith("#/")) return undefined;
    let value: unknown = document;
    for (const step of reference.slice(2).split("/")) {
      const key = decode(step).replaceAll("~1", "/").replaceAll("~0", "~");
      const parent: unknown = isObject(value) && typeof value.$ref === "string" ? follow(value) : value;
      const isInside = typeof parent === "object" && parent !== null && Object.hasOwn(parent, key);
      value = isInside ? (parent as Record<string, unknown>)[key] : undefined;
    }
    return value;
  };
  const follow = (value: unknown): unknown => {
    let found = value;
    for (let steps = 0; isObject(found) && typeof found.$ref === "string"; steps++) {
      const reference = found.$ref;
      found = steps < MOST_STEPS ? at(reference) : undefined;
      if (found === undefined) throw new Refused(`its reference ${reference} leads nowhere`);
    }
    return found;
  };
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
  return { at, follow, object, tryObject };
}

function decode(step: string): string {
  try {
    return decodeURIComponent(step);
  } catch {
    return step;
  }
}
