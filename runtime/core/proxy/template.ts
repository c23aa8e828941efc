import { isObject, type JsonObject } from "../json.ts";
import { valueAt } from "./pointer.ts";

/** A place in a template that a value is put into. */
export interface Placeholder {
  /** As it is written, without braces: `place.city`, `days*`, `/id`. */
  readonly text: string;
  /** A field of the input (`place.city`), or a JSON Pointer into the answer to an order (`/id`). */
  readonly name: string;
  /** `input`, or the answer to the order that is polled. */
  readonly source: "input" | "order";
  /** `{days*}`: each item of a list, or each field of a mapping, by itself. */
  readonly isExploded: boolean;
  /** Whether the value may have slashes in it: `{+path}` keeps them, `{path%2F}` sends them as `%2F`. */
  readonly slashes?: "kept" | "encoded";
}

/** A text with placeholders. */
export type Template = readonly (string | Placeholder)[];

/** What placeholders are filled from. */
export interface Scope {
  readonly input: JsonObject;
  /** The answer to the order that is polled. */
  readonly order?: unknown;
}

/** `{{` and `}}` stand for braces. */
const PART = /\{\{|\}\}|\{(\+?)(\/[^{}]*|[^{}\s"':,*/]+?)(\*|%2F)?\}/g;

/** Reads a template. Braces that enclose no name are text. */
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

/** The placeholders of a template. */
export const placeholdersOf = (template: Template): readonly Placeholder[] =>
  template.filter((part) => typeof part === "object");

/** The value of a placeholder; undefined where there is none. A field whose own name has a dot comes first. */
export function readPlace({ name, source }: Placeholder, { input, order }: Scope): unknown {
  if (source === "order") return valueAt(order, name) ?? undefined;
  if (Object.hasOwn(input, name)) return input[name] ?? undefined;
  const found = name
    .split(".")
    .reduce<unknown>((value, step) => (isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined), input);
  return found ?? undefined;
}
