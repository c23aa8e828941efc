import { isObject, type JsonObject } from "../../../core/json.ts";
import type { BodyEncoding } from "../../../core/proxy/plan.ts";
import { Refused } from "../imported.ts";
import { createNames } from "../names.ts";
import { isJsonType, isPlainJson } from "./answers.ts";
import { examplesOf, jsonExamplesOf } from "./examples.ts";
import { BYTES, HELLO } from "./files.ts";
import { type BodyForm, isWrittenOtherwise, readForm } from "./form.ts";
import { isPlainForm, neededLists, toFlat, withFields } from "./form-fields.ts";
import type { Operation } from "./operations.ts";
import type { Field } from "./parameters.ts";
import type { Pointers } from "./pointers.ts";
import { kindOf } from "./styles.ts";

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

const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i;
const FILES_TYPE = /^multipart\/form-data\b/i;
/** The charset of a text; all are sent in UTF-8. */
const CHARSET = /(;\s*charset\s*=\s*)"?[\w.:-]+"?/i;
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
  if (Object.keys(content).length === 0) return undefined;
  if (method === "GET") {
    if (body.required === true) throw new Refused("it is a GET that needs a body, which no GET is sent with");
    return undefined;
  }
  const { encoding, type } = chooseType(content, pointers);
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
      type: type.replace(CHARSET, "$1utf-8"),
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

/** The simplest encoding of a body, and its first type of that encoding. */
function chooseType(
  content: JsonObject,
  pointers: Pointers,
): { readonly encoding: BodyEncoding; readonly type: string } {
  const given = Object.keys(content);
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
  return { encoding, type: fitting.find((one) => !isMisnamed(one)) ?? fitting[0] ?? "" };
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
