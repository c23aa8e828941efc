import { isObject, type JsonObject } from "../../../core/json.ts";
import { examplesOf } from "./examples.ts";
import type { Pointers } from "./pointers.ts";
import { kindOf, type ParameterText } from "./styles.ts";

/** A value of a media type, such as JSON. */
export function toContentText(content: JsonObject, pointers: Pointers): ParameterText {
  const [type = ""] = Object.keys(content);
  const media = pointers.object(content[type]);
  const examples = examplesOf(media, pointers.tryObject(media.schema), pointers);
  const toText = (value: unknown): unknown => (typeof value === "string" ? value : JSON.stringify(value));
  return { note: `Written as ${type}.`, examples: examples.map(toText) };
}

/** A parameter that is a list, in a style with a mark between its items; undefined for others. */
export function toListText(own: JsonObject, schema: JsonObject, pointers: Pointers): ParameterText | undefined {
  const mark = MARKS.get(own.style);
  return mark && kindOf(schema, pointers) === "array" ? toMarked(own, schema, { pointers, mark }) : undefined;
}

interface FormTextTerms {
  readonly pointers: Pointers;
  /** The document's example values. */
  readonly examples: readonly unknown[];
}

/** The text in which a field of a form has all items of a list; undefined for other fields (OpenAPI 3.1, section 4.8.15). */
export function toFormText(encoding: unknown, part: unknown, terms: FormTextTerms): ParameterText | undefined {
  const { style, explode } = isObject(encoding) ? encoding : {};
  const mark = explode === true ? undefined : (MARKS.get(style) ?? (explode === false ? COMMA : undefined));
  const { pointers, examples } = terms;
  if (!mark || kindOf(part, pointers) !== "array") return undefined;
  const named = Object.fromEntries(examples.map((value, at) => [at, { value }]));
  return toMarked({ examples: named }, pointers.object(part), { pointers, mark });
}

interface Mark {
  readonly text: string;
  readonly name: string;
}

const COMMA: Mark = { text: ",", name: "a comma" };

/** What stands between the items of a list, by its style. */
const MARKS: ReadonlyMap<unknown, Mark> = new Map([
  ["pipeDelimited", { text: "|", name: '"|"' }],
  ["spaceDelimited", { text: " ", name: "a space" }],
  ["tabDelimited", { text: "\t", name: "a tab" }],
]);

function toMarked(
  own: JsonObject,
  schema: JsonObject,
  { pointers, mark }: { readonly pointers: Pointers; readonly mark: Mark },
): ParameterText {
  const toText = (value: unknown): unknown => (Array.isArray(value) ? value.join(mark.text) : value);
  const examples = examplesOf(own, pointers.object(schema), pointers).map(toText);
  return { note: `A list, with ${mark.name} between its items.`, examples };
}
