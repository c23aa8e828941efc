import { isObject, type JsonObject } from "../json.ts";
import { valueAt } from "./pointer.ts";

/** A place in a template where a value is inserted. */
export interface Placeholder {
  /** The text between the braces: `place.city`, `days*`, `/id`. */
  readonly text: string;
  /** A field of the input (`place.city`), or a JSON Pointer into the answer to an order (`/id`). */
  readonly name: string;
  /** `input`, or the answer to the polled order. */
  readonly source: "input" | "order";
  /** `{days*}`: each item of a list or field of a mapping becomes a separate value. */
  readonly isExploded: boolean;
  /** How slashes in the value are sent: `{+path}` keeps them, `{path%2F}` sends `%2F`; they are refused by default. */
  readonly slashes?: "kept" | "encoded";
}

export type Template = readonly (string | Placeholder)[];

/** The values of placeholders. */
export interface Scope {
  readonly input: JsonObject;
  /** The answer to the polled order. */
  readonly order?: unknown;
}

/** `{{` and `}}` are escaped braces. */
const PART = /\{\{|\}\}|\{(\+?)(\/[^{}]*|[^{}\s"':,*/]+?)(\*|%2F)?\}/g;

/** Reads a template. Braces without a valid name are text. */
export function parseTemplate(text: string): Template {
  const parts: (string | Placeholder)[] = [];
  let at = 0;
  for (const match of text.matchAll(PART)) {
    const [whole, plus, name, mark = ""] = match;
    parts.push(text.slice(at, match.index));
    at = match.index + whole.length;
    if (name === undefined) parts.push(whole.slice(1));
    else {
      const slashes = plus ? "kept" : mark === "%2F" ? "encoded" : undefined;
      parts.push({
        text: plus + name + mark,
        name,
        source: name.startsWith("/") ? "order" : "input",
        isExploded: mark === "*",
        ...(slashes && { slashes }),
      });
    }
  }
  parts.push(text.slice(at));
  return parts.filter((part) => part !== "");
}

/** The placeholder that is the whole template, if it is one. */
export function soleOf(template: Template): Placeholder | undefined {
  const [first] = template;
  return template.length === 1 && typeof first === "object" ? first : undefined;
}

/** The field of the input in which the value of a placeholder such as `{place.city}` stands. */
export const fieldOf = (name: string): string => name.split(".", 1)[0] as string;

export const placeholdersOf = (template: Template): readonly Placeholder[] =>
  template.filter((part) => typeof part === "object");

/** The value of a placeholder; undefined when it is absent, or `null`. */
export const readPlace = (place: Placeholder, scope: Scope): unknown => readValue(place, scope) ?? undefined;

/** The value of a placeholder; undefined when absent. A field whose own name contains the dot has precedence. */
export function readValue({ name, source }: Placeholder, { input, order }: Scope): unknown {
  if (source === "order") return valueAt(order, name);
  if (Object.hasOwn(input, name)) return input[name];
  return name
    .split(".")
    .reduce<unknown>((value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined), input);
}
