import { isObject, type JsonObject } from "../../../core/json.ts";
import { Refused } from "../imported.ts";
import { createNames, toFieldName } from "../names.ts";
import { examplesOf } from "./examples.ts";
import { isFilePart, MOST_BASE64, type PartTerms, toFilePart } from "./files.ts";
import { toFlat, toNeeded } from "./form-fields.ts";
import { toFormText } from "./parameter-text.ts";
import type { Field } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";
import { isDeepObject, kindOf } from "./styles.ts";

/** A form with files or with mappings. */
export interface BodyForm {
  readonly fields: readonly Field[];
  /** The input's field names by the form's, where they differ: `name[*]` for a mapping whose fields are sent one by one. */
  readonly body: "input" | Readonly<Record<string, string>>;
  /** The fields of the form that are files. */
  readonly files: readonly string[];
}

/** Whether a form has a field that is neither repeated for each item of a list nor JSON. */
export function isWrittenOtherwise(media: JsonObject, pointers: Pointers): boolean {
  const { properties } = toFlat(media.schema, pointers);
  return Object.entries(pointers.tryObject(media.encoding)).some(
    ([name, own]) => isDeepObject(own) || toFormText(own, properties[name], { pointers, examples: [] }),
  );
}

interface FormTerms {
  /** Names of the input's other fields. */
  readonly taken: readonly string[];
  readonly hasFiles: boolean;
}

/** The parts of a form, those of its `allOf` included (OpenAPI 3.1, section 4.8.14.3). */
export function readForm(media: JsonObject, pointers: Pointers, { taken, hasFiles }: FormTerms): BodyForm {
  const { properties, required } = toFlat(media.schema, pointers);
  const encodings = isObject(media.encoding) ? media.encoding : {};
  const claim = createNames(taken);
  const parts = Object.entries(properties).filter(([, part]) => pointers.tryObject(part).readOnly !== true);
  if (parts.length === 0) throw new Refused("its form names no fields");
  const files = hasFiles
    ? parts.filter(([name, part]) => isFilePart(part, { encoding: encodings[name], pointers }))
    : [];
  const wholes = examplesOf(media, pointers.tryObject(media.schema), pointers).filter(isObject);
  const most = Math.floor(MOST_BASE64 / Math.max(1, files.length));
  const named = parts.map(([wireName, part]) => {
    const terms: PartTerms = { encoding: encodings[wireName], pointers };
    const given = wholes.flatMap((whole) => (Object.hasOwn(whole, wireName) ? [whole[wireName]] : []));
    const isOwnFile = files.some(([name]) => name === wireName);
    const isRequired = required.includes(wireName);
    const sent = isRequired ? toNeeded(part, pointers) : part;
    const value = isOwnFile ? toFilePart(pointers.tryObject(sent), most) : toValuePart(sent, given, terms);
    const field: Field = { name: claim(toFieldName(wireName), "_"), isRequired, ...value };
    const isSpread = !isOwnFile && isDeepObject(terms.encoding) && /^(?:|object|array)$/.test(kindOf(part, pointers));
    return { key: isSpread ? `${wireName}[*]` : wireName, field };
  });
  const isPlain = named.every(({ key, field }) => key === field.name);
  return {
    fields: named.map(({ field }) => field),
    body: isPlain ? "input" : Object.fromEntries(named.map(({ key, field }) => [key, `{${field.name}}`])),
    files: files.map(([name]) => name),
  };
}

/** @param given the values of the part in examples of the whole form */
function toValuePart(
  part: unknown,
  given: readonly unknown[],
  { encoding, pointers }: PartTerms,
): Pick<Field, "schema" | "examples"> {
  const own = pointers.tryObject(part);
  const text = toFormText(encoding, part, { pointers, examples: given });
  if (!text) return { schema: part, examples: [...given, ...examplesOf({}, own, pointers)] };
  const description = [own.description, text.note].filter((one) => typeof one === "string").join(" ");
  return { schema: { type: "string", description }, examples: text.examples };
}
