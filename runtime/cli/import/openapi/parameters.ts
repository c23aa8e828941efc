import { isObject, type JsonObject } from "../../../core/json.ts";
import { CREDENTIAL } from "../../../core/proxy/credential.ts";
import { Refused } from "../imported.ts";
import { createNames, toFieldName } from "../names.ts";
import { examplesOf } from "./examples.ts";
import type { Operation } from "./operations.ts";
import { toContentText, toListText } from "./parameter-text.ts";
import type { Pointers } from "./pointers.ts";
import { orDigits } from "./schema/words.ts";
import { isListAlone, kindOf, type Parameter, toBare, toNeededList, toWritten, type Written } from "./styles.ts";

/** One field of an input, and its place in the request. */
export interface Field {
  readonly name: string;
  readonly schema: unknown;
  readonly isRequired: boolean;
  /** The document's example values. */
  readonly examples: readonly unknown[];
}

/** The parts of a request that have parameters. */
export interface RequestParts {
  readonly fields: readonly Field[];
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  /** Notes about omitted parameters. */
  readonly notes: readonly string[];
}

/** Headers that OpenAPI describes elsewhere (3.1, section 4.8.12), or that belong to the connection. */
const OWN_HEADERS =
  /^(?:accept|accept-encoding|authorization|connection|content-length|content-type|cookie|expect|forwarded|host|keep-alive|payment-.*|proxy-.*|sign-in-with-x|te|trailer|transfer-encoding|upgrade|user-agent|via|x-forwarded-.*|x-payment.*|x-real-ip)$/i;

/** Characters that a document may write in a path, and a URL may not. */
const BEYOND_A_URL = /[^\w.~!$&'()*+,;=:@/%{}-]/gu;

/**
 * The input fields and request templates of an operation's parameters.
 * @param isCredential whether the upstream's key fills a parameter already.
 * @throws Refused for a required parameter that cannot be sent.
 */
export function readParameters(
  operation: Operation,
  pointers: Pointers,
  isCredential: (place: string, name: string) => boolean,
): RequestParts {
  const [path = "", fixed = ""] = operation.path.replace(/#.*$/s, "").split("?");
  const parts = {
    fields: [] as Field[],
    query: Object.fromEntries(new URLSearchParams(fixed)),
    headers: {} as Record<string, string>,
    notes: [] as string[],
  };
  const claim = createNames();
  const inPath = new Map<string, string>();
  const declared = operation.parameters
    .flatMap((own) => readParameter(own, pointers))
    .map((parameter) => toQueryOf(parts.query, parameter));
  const undeclared = placeholdersOf(path).filter((name) => !declared.some((one) => isInPath(one, name)));
  const all = [...declared, ...undeclared.map(toPathText)];
  for (const parameter of all.filter((one) => isSent(one, path) && !isCredential(one.place, one.wireName)))
    add(parameter);
  const filled = path.replaceAll(/\{([^{}]*)\}/g, (whole, name: string) => inPath.get(name) ?? whole);
  return { ...parts, path: filled.toWellFormed().replaceAll(BEYOND_A_URL, encodeURIComponent) };

  function add(parameter: Parameter): void {
    const { place, wireName, own, text } = parameter;
    const isRequired = place === "path" || own.required === true;
    if (isOfProvider(parameter)) {
      parts.notes.push(`${wireName} is a credential: name it under the upstream's key in _site.yaml`);
      return;
    }
    const written = write(parameter);
    if (typeof written === "string") {
      if (isRequired) throw new Refused(`its parameter ${wireName} is ${written}, which templates cannot write`);
      parts.notes.push(`the optional parameter ${wireName} is left out: it is ${written}`);
      return;
    }
    const name = claim(toFieldName(wireName), "_");
    const isNumbered = name !== toFieldName(wireName);
    const said = [own.description, text?.note, ...(isNumbered ? [`Sent as ${wireName} in the ${place}.`] : [])];
    const description = said.filter((one) => typeof one === "string").join(" ");
    const schema = {
      ...(text ? { type: "string" } : toOwnSchema(parameter, pointers)),
      ...(description !== "" && { description }),
    };
    const examples = text?.examples ?? examplesOf(own, parameter.schema, pointers);
    parts.fields.push({ name, schema, isRequired, examples });
    const fill = (template: string): string => template.replace(/\{(\+?)/, (_, plus) => `{${plus}${name}`);
    for (const [key, template] of Object.entries(written.query ?? {})) parts.query[key] = fill(template);
    if (written.text === undefined) return;
    if (place === "path") inPath.set(wireName, fill(written.text));
    else parts.headers[wireName.toLowerCase()] = fill(written.text);
  }

  /** The form of a parameter beside the others; a string explains why there is none. */
  function write(parameter: Parameter): Written | string {
    if (parameter.place === "querystring") return "the whole query (in: querystring)";
    const written = toWritten(parameter, pointers);
    if (typeof written === "string") return written;
    const { query = {} } = written;
    if (query["*"] !== undefined && parts.query["*"] !== undefined) return "a second object of any shape in the query";
    const isOthers = Object.keys(query).some(
      (key) => key !== parameter.wireName && all.some((one) => isInQuery(one, key)),
    );
    return isOthers ? "an object whose fields are parameters of their own" : written;
  }
}

/** Whether a value is the provider's credential; of a plain word, such as "token", only where it is a header or said to be one. */
export function isOfProvider({ place, wireName, own }: Pick<Parameter, "place" | "wireName" | "own">): boolean {
  if (!/^(?:header|query|body)$/.test(place) || !(CREDENTIAL.test(wireName) || PLAIN.test(wireName))) return false;
  return place === "header" || !PLAIN.test(wireName) || SAID.test(String(own.description));
}

const PLAIN = /^(?:appid|client[-_]?id|key|passw(?:or)?d|pwd|secret|sig|signature|token)$/i;
const SAID = /\b(?:api|access|auth\w*|oauth\w*)[ -]?`?(?:key|token|secret|client_id)\b/i;

/** Some documents write a query behind a path, and call what stands there parameters of the path. */
function toQueryOf(query: Readonly<Record<string, string>>, parameter: Parameter): Parameter {
  const { place, wireName, own } = parameter;
  const [key] = Object.entries(query).find(([, text]) => place === "path" && text === `{${wireName}}`) ?? [];
  return key === undefined
    ? parameter
    : { ...parameter, place: "query", wireName: key, own: { ...own, required: true } };
}

/**
 * The schema of a parameter. A text must not be empty in a path, which would become another path, or in a required header,
 * which could not be sent; nor a required list, of which nothing would be sent. An object without named fields accepts any fields.
 */
function toOwnSchema({ place, own, schema }: Parameter, pointers: Pointers): JsonObject {
  const seen = pointers.object(schema);
  const { type, minLength, format, properties, additionalProperties, allOf, anyOf, oneOf } = seen;
  const kind = kindOf(schema, pointers);
  const bare = toBare(schema, pointers);
  const digits = orDigits(bare, pointers.object);
  const isNeeded = place === "path" || own.required === true;
  if (isNeeded && kind === "array" && isListAlone(bare)) return toNeededList(digits ?? bare, place, pointers);
  if (digits) return digits;
  const isAny = [properties, additionalProperties, allOf, anyOf, oneOf].every((part) => part === undefined);
  if (isAny && kind === "object") return { type: "object", additionalProperties: true };
  if (place === "path" && kind === "object") return { ...bare, minProperties: 1 };
  const mayBeEmpty = !isNeeded || place === "query";
  if (!mayBeEmpty && Object.keys(seen).every((key) => ANNOTATIONS.has(key)))
    return { ...seen, type: "string", minLength: 1 };
  if (mayBeEmpty || type !== "string" || format !== undefined || (typeof minLength === "number" && minLength > 0))
    return schema;
  return "$ref" in schema ? { type: "string", allOf: [schema], minLength: 1 } : { ...schema, minLength: 1 };
}

/** Keywords that say nothing of a value. */
const ANNOTATIONS = new Set(["title", "description", "example", "examples", "deprecated"]);

const placeholdersOf = (path: string): string[] => [...path.matchAll(/\{([^{}]*)\}/g)].map(([, name = ""]) => name);

const isInPath = ({ place, wireName }: Parameter, name: string): boolean => place === "path" && wireName === name;

const isInQuery = ({ place, wireName }: Parameter, name: string): boolean => place === "query" && wireName === name;

const toPathText = (wireName: string): Parameter => ({
  place: "path",
  wireName,
  own: {},
  // When the parameter has several segments.
  schema: { type: "string", ...(/^\+|[+*]$/.test(wireName) && { pattern: "^.+$" }) },
  text: undefined,
});

function isSent({ place, wireName }: Parameter, path: string): boolean {
  if (place === "header") return !OWN_HEADERS.test(wireName);
  return place !== "path" || path.includes(`{${wireName}}`);
}

/** Where parameters are (OpenAPI 3.2, Parameter Object). */
const PLACES = ["path", "query", "querystring", "header", "cookie"];

function readParameter(own: JsonObject, pointers: Pointers): Parameter[] {
  const { in: place, name, schema, content } = own;
  if (typeof place !== "string" && typeof own.$ref === "string") pointers.follow(own); // Refuses it by name.
  if (typeof place !== "string" || typeof name !== "string")
    throw new Refused("one of its parameters has no name or no place");
  if (!PLACES.includes(place))
    throw new Refused(`its parameter ${name} is in "${place}", and not in ${PLACES.join(" or ")}`);
  const { nullable, ...rest } = isObject(schema) ? schema : {};
  const plain = nullable === undefined || place === "path" ? rest : { ...rest, nullable };
  const text = isObject(content) ? toContentText(content, pointers) : toListText(own, plain, pointers);
  return [{ place, wireName: name, own, schema: plain, text }];
}
