import { Problem, toValueError } from "../../api/problem.ts";
import { isObject, type JsonObject } from "../json.ts";
import { asItIs, type Encode, type Encoded } from "./encoding.ts";
import { fieldOf, type Placeholder, readPlace, type Scope, type Template } from "./template.ts";

/**
 * Fills a template with encoded values; undefined when one of them is absent.
 * @throws Problem `invalid-input` for a value that does not fit its place; `upstream-failed` when an upstream sent it.
 */
export function fill(template: Template, scope: Scope, encode: Encode): string | undefined {
  const texts = template.map((part) => {
    if (typeof part === "string") return part;
    const value = readPlace(part, scope);
    return value === undefined ? undefined : toEncoded(value, part, encode);
  });
  return texts.includes(undefined) ? undefined : texts.join("");
}

/** A value as text; commas separate the parts of lists and mappings (RFC 6570, section 3.2.1). @throws as `fill`. */
export function toEncoded(value: unknown, place: Placeholder, encode: Encode): string {
  if (isObject(value) && encode !== asItIs) return toPairs(value, place, encode);
  if (!Array.isArray(value)) return toItem(value, place, encode);
  if (value.some((item) => typeof item === "string" && item.includes(",")))
    throw toBadValue(place, value, "an item of this list must have no comma in it");
  return value.map((item) => toItem(item, place, encode)).join(",");
}

/** `a,1,b,2`, or `a=1,b=2` where the placeholder is exploded. */
function toPairs(fields: JsonObject, place: Placeholder, encode: Encode): string {
  const [middle, forbidden] = place.isExploded ? ["=", /[,=]/] : [",", /,/];
  const pairs = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  if (pairs.some((pair) => pair.some((part) => typeof part === "string" && forbidden.test(part))))
    throw toBadValue(place, fields, "names and values of this mapping must have no commas and no equals signs in them");
  return pairs.map(([name, value]) => [name, value].map((part) => toItem(part, place, encode)).join(middle)).join(",");
}

function toItem(value: unknown, place: Placeholder, encode: Encode): string {
  const isText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isText) throw toBadValue(place, value, "this is sent as text, and must be a text, a number, true or false");
  if (typeof value === "number" && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw toBadValue(place, value, "an integer beyond 9007199254740991 is not exact, and might name something else");
  const text = String(value);
  const encoded: Encoded = text.isWellFormed() ? encode(text, place) : { fault: "it has a lone surrogate in it" };
  if (encoded.text === undefined) throw toBadValue(place, value, encoded.fault);
  return encoded.text;
}

/** A field of the input, as the place of its value. */
export const toPlace = (name: string): Placeholder => ({ text: name, name, source: "input", isExploded: false });

/** The refusal of a value. Values from the upstream are not shown to callers. */
export function toBadValue({ name, source }: Placeholder, value: unknown, why: string): Problem {
  if (source === "order") return new Problem("upstream-failed", `The upstream answered an order with a bad ${name}`);
  return new Problem("invalid-input", undefined, { issues: [toValueError(why, value, fieldOf(name))] });
}
