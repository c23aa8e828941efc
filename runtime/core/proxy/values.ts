import { Problem, toValueError } from "../../api/problem.ts";
import { type Placeholder, readPlace, type Scope, type Template } from "./template.ts";

/** Makes one value fit its place, or says what is wrong with it. */
export type Encode = (
  text: string,
) => { readonly text: string; readonly fault?: undefined } | { readonly fault: string };

/**
 * The text of a template, each of its values encoded; undefined when one of them is absent.
 * @throws Problem `invalid-input` for a value that does not fit its place; `upstream-failed` when it is an upstream's own.
 */
export function fill(template: Template, scope: Scope, encode: Encode): string | undefined {
  const texts = template.map((part) => {
    if (typeof part === "string") return part;
    const value = readPlace(part, scope);
    return value === undefined ? undefined : toEncoded(value, part, encode);
  });
  return texts.includes(undefined) ? undefined : texts.join("");
}

/** A value as text: the items of a list with commas between them. @throws as `fill`. */
export function toEncoded(value: unknown, place: Placeholder, encode: Encode): string {
  if (!Array.isArray(value)) return toItem(value, place, encode);
  if (value.some((item) => typeof item === "string" && item.includes(",")))
    throw toBadValue(place, value, "an item of this list has no comma in it");
  return value.map((item) => toItem(item, place, encode)).join(",");
}

function toItem(value: unknown, place: Placeholder, encode: Encode): string {
  const isText = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  if (!isText) throw toBadValue(place, value, "this is sent as text, and must be a text, a number, true or false");
  const text = String(value);
  const { text: encoded, fault } = text.isWellFormed()
    ? (encode(text) as { text?: string; fault?: string }) // Either of them.
    : { fault: "it has half of a character in it" };
  if (encoded === undefined) throw toBadValue(place, value, fault ?? "it does not fit");
  return encoded;
}

/** The refusal of a value. The upstream's own values are not shown to callers. */
export function toBadValue({ name, source }: Placeholder, value: unknown, why: string): Problem {
  if (source === "order") return new Problem("upstream-failed", `The upstream answered an order with a bad ${name}`);
  const [field = name] = name.split(".");
  return new Problem("invalid-input", undefined, { issues: [toValueError(why, value, field)] });
}
