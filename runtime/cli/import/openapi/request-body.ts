import { isObject, type JsonObject } from "../../../core/json.ts";
import type { BodyEncoding } from "../../../core/proxy/plan.ts";
import { Refused } from "../imported.ts";
import { createNames, toFieldName } from "../names.ts";
import { isJsonType, isPlainJson } from "./answers.ts";
import { examplesOf, jsonExamplesOf } from "./examples.ts";
import { isPlainForm, neededLists, toFlat, toNeeded, withFields } from "./form-fields.ts";
import type { Operation } from "./operations.ts";
import { toFormText } from "./parameter-text.ts";
import type { Field } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";
import { isDeepObject, kindOf } from "./styles.ts";

export interface RequestBody {
  /** The whole body as one value. */
  readonly schema: unknown;
  readonly isRequired: boolean;
  readonly encoding: BodyEncoding;
  /** The value for `content-type`, when it is not the encoding's default. */
  readonly type?: string;
  /** The field of the input that `type` names, where the document leaves the type of bytes open, as `image/*` does. */
  readonly typeField?: Field;
  /** A form whose parts are fields of the input: one with files, or with mappings or lists that are written otherwise. */
  readonly form?: BodyForm;
  readonly description?: string;
  readonly examples: readonly unknown[];
}

/** A form with files or with mappings. */
export interface BodyForm {
  readonly fields: readonly Field[];
  /** The input's field names by the form's, where they differ: `name[*]` for a mapping whose fields are sent one by one. */
  readonly body: "input" | Readonly<Record<string, string>>;
  /** The fields of the form that are files. */
  readonly files: readonly string[];
}

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;
const FILES_TYPE = /^multipart\/form-data\b/i;
const TEXT_TYPE = /^text\/|[/+](?:xml|yaml|csv|graphql|x-yaml|javascript)\b/i;

type Kind = readonly [encoding: BodyEncoding, isIt: (type: string) => boolean];
const BYTES_KIND: Kind = ["bytes", () => true];

/** The kinds of bodies, simplest first. */
const KINDS: readonly Kind[] = [
  ["json", isPlainJson],
  ["json", isJsonType],
  ["form", (type) => FORM_TYPE.test(type)],
  ["multipart", (type) => FILES_TYPE.test(type)],
  ["text", (type) => TEXT_TYPE.test(type)],
  BYTES_KIND,
];

/** The body of an operation; undefined when it has none. @param taken names of the input's other fields. */
export function readRequestBody(
  { requestBody, method }: Operation,
  pointers: Pointers,
  taken: readonly string[],
): RequestBody | undefined {
  const body = pointers.object(requestBody);
  const content = pointers.object(body.content);
  const given = Object.keys(content);
  if (given.length === 0) return undefined;
  if (method === "GET") {
    if (body.required === true) throw new Refused("it is a GET that needs a body, which no GET is sent with");
    return undefined;
  }
  // Azure's documents offer a form without fields beside the bytes alone.
  const isBare = (one: string): boolean => FILES_TYPE.test(one) && hasNoFields(pointers.object(content[one]), pointers);
  const types = given.every(isBare) ? given : given.filter((one) => !isBare(one));
  const isBytes = (one: string): boolean =>
    one.includes("*") && pointers.tryObject(pointers.object(content[one]).schema).format === "binary";
  const [encoding, isIt] = KINDS.find(([, fits]) => types.some((one) => fits(one) && !isBytes(one))) ?? BYTES_KIND;
  const fitting = types.filter((one) => isIt(one) && (encoding === "bytes" || !isBytes(one)));
  // A JSON Patch is a list (RFC 6902): what is described as a mapping, is meant in one of the other types.
  const isMisnamed = (one: string): boolean =>
    /\bjson-patch\+json\b/i.test(one) && kindOf(pointers.object(content[one]).schema ?? {}, pointers) === "object";
  const type = fitting.find((one) => !isMisnamed(one)) ?? fitting[0] ?? "";
  const media = pointers.object(content[type]);
  const schema = pointers.tryObject(media.schema);
  const shared = {
    isRequired: body.required === true || hasNeededFields(schema),
    encoding,
    ...(typeof body.description === "string" && { description: body.description }),
  };
  if (encoding === "form" && /^(?:array|string|number|integer|boolean)$/.test(kindOf(media.schema ?? {}, pointers)))
    throw new Refused("its form has no fields");
  const hasFiles = encoding === "multipart";
  const isWhole = taken.length === 0 && isObject(media.schema) && typeof media.schema.$ref === "string"; // The whole input.
  const lists = encoding === "form" ? neededLists(schema, pointers) : undefined;
  const isFlat = lists !== undefined && isWhole && isPlainForm(schema);
  if (hasFiles || isFlat || (encoding === "form" && isWrittenOtherwise(media, pointers)))
    return { ...shared, schema: {}, examples: [], form: readForm(media, pointers, { taken, hasFiles }) };
  if (encoding === "bytes") return { ...shared, schema: BYTES, examples: [HELLO], ...toBytesType(type, taken) };
  const examples = (encoding === "json" ? jsonExamplesOf : examplesOf)(media, schema, pointers);
  if (encoding === "text") {
    const texts = examples.filter((one) => typeof one === "string");
    return {
      ...shared,
      schema: { type: "string", description: `Sent as ${toPlainType(type)}.` },
      examples: texts,
      type,
    };
  }
  const isOtherJson = encoding === "json" && /^application\/[\w.-]+\+json\b/i.test(type);
  const needing = isWhole ? undefined : lists && withFields(schema, lists);
  return {
    ...shared,
    schema: needing ?? media.schema ?? {},
    ...(isOtherJson && { type: toPlainType(type) }),
    examples,
  };
}

const hasNoFields = (media: JsonObject, pointers: Pointers): boolean =>
  Object.keys(toFlat(media.schema, pointers).properties).length === 0;

const toPlainType = (type: string): string => {
  const plain = (type.split(";")[0] ?? "").trim().toLowerCase();
  return plain.includes("*") || plain === "" ? "application/octet-stream" : plain;
};

/** The type of bytes, which callers name where the document takes several: one of any type needs no name. */
function toBytesType(type: string, taken: readonly string[]): Pick<RequestBody, "type" | "typeField"> {
  const [, kind] = /^\s*([a-z]+|\*)\/\*/i.exec(type) ?? [];
  if (kind === undefined) return { type: toPlainType(type) };
  const name = createNames(taken)("content_type", "_");
  const schema = {
    type: "string",
    maxLength: 100,
    pattern: `^${kind === "*" ? "[a-z]+" : kind.toLowerCase()}/[a-z0-9][a-z0-9.+-]*$`,
    description: "The media type of the file.",
  };
  const examples = kind.toLowerCase() === "image" ? ["image/png"] : [];
  return { type: `{${name}}`, typeField: { name, schema, isRequired: kind !== "*", examples } };
}

/** Whether the body has required fields. It is then treated as required, because documents often forget to say so. */
const hasNeededFields = ({ required }: JsonObject): boolean => Array.isArray(required) && required.length > 0;

/** Larger files do not fit into a call. */
const MOST_BASE64 = 1_000_000;
const HELLO = Buffer.from("Hello").toString("base64");
const HELLO_FILE = { data: HELLO, name: "hello.txt", media: "text/plain" };
const BYTES = {
  type: "string",
  contentEncoding: "base64",
  maxLength: MOST_BASE64,
  description: "The file, in base64.",
  examples: [HELLO],
};

/** Whether a form has a field that is neither repeated for each item of a list nor JSON. */
function isWrittenOtherwise(media: JsonObject, pointers: Pointers): boolean {
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
function readForm(media: JsonObject, pointers: Pointers, { taken, hasFiles }: FormTerms): BodyForm {
  const { properties, required } = toFlat(media.schema, pointers);
  const encodings = isObject(media.encoding) ? media.encoding : {};
  const claim = createNames(taken);
  const parts = Object.entries(properties).filter(([, part]) => pointers.tryObject(part).readOnly !== true);
  if (parts.length === 0) throw new Refused("its form names no fields");
  const files = hasFiles ? parts.filter(([name, part]) => isFile(part, { encoding: encodings[name], pointers })) : [];
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

const toFilePart = (own: JsonObject, most: number): Pick<Field, "schema" | "examples"> => ({
  schema: toFileSchema(own, most),
  examples: [own.type === "array" ? [HELLO_FILE] : HELLO_FILE],
});

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

interface PartTerms {
  /** The form's `encoding` of the part. */
  readonly encoding: unknown;
  readonly pointers: Pointers;
}

function isFile(part: unknown, { encoding, pointers }: PartTerms): boolean {
  const schema = pointers.tryObject(part);
  if (schema.type === "array") return isFile(schema.items, { encoding, pointers });
  const { type, format, contentMediaType, contentEncoding } = schema;
  if (type !== undefined && type !== "string" && type !== "file") return false;
  const { contentType = contentMediaType } = isObject(encoding) ? encoding : {};
  const isOther = typeof contentType === "string" && !/^text\/|json|urlencoded/i.test(contentType);
  const isEncoded = /^(?:binary|base64)$/.test(String(contentEncoding));
  return type === "file" || /^(?:binary|byte)$/.test(String(format)) || isEncoded || isOther;
}

function toFileSchema({ type, description, maxItems, minItems }: JsonObject, most: number): JsonObject {
  const said = typeof description === "string" && description.trim() !== "" ? description.trim() : "A file.";
  const file = {
    type: "object",
    description: said,
    properties: {
      data: { ...BYTES, maxLength: most },
      name: { type: "string", maxLength: 200, description: 'Its name, such as "report.pdf".' },
      media: { type: "string", maxLength: 100, description: 'Its media type, such as "application/pdf".' },
    },
    required: ["data"],
    examples: [HELLO_FILE],
  };
  return type === "array" ? { type, items: file, minItems, maxItems, description: said } : file;
}
