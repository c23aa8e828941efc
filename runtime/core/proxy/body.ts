import { isObject, type JsonObject } from "../json.ts";
import { asItIs, type Encode, inQuery, inXml } from "./encoding.ts";
import { toBytes, toMultipart } from "./files.ts";
import { fixedIn, headPlaceholders, type RequestPlan } from "./plan.ts";
import { isSpread, toSpread } from "./spread.ts";
import {
  fieldOf,
  type Placeholder,
  parseTemplate,
  placeholdersOf,
  readPlace,
  readValue,
  type Scope,
  soleOf,
} from "./template.ts";
import { fill, toBadValue, toEncoded, toPlace } from "./values.ts";

/** The body of a request, with its media type. */
export interface ProxyBody {
  readonly type: string;
  readonly content: string | Uint8Array;
}

/** The body of a request; undefined when there is none. @throws Problem `invalid-input` as `toRequest`. */
export function toBody(plan: RequestPlan, scope: Scope): ProxyBody | undefined {
  const { encoding, files } = plan;
  const body = withoutLacking(plan, scope);
  if (body === undefined) return undefined;
  const value =
    body === "input" ? toRest(plan, scope) : toValue(body, { ...scope, encode: encoding === "text" ? inXml : asItIs });
  if (value === undefined && encoding === "text") refuseLack(body, scope);
  if (value === undefined || (value === null && encoding !== "json")) return undefined;
  const place = toPlace(typeof body === "string" ? (soleOf(parseTemplate(body))?.name ?? "body") : "body");
  switch (encoding) {
    case "json":
      return { type: "application/json", content: JSON.stringify(value) };
    case "form":
      return { type: "application/x-www-form-urlencoded", content: toForm(toFields(value, place), plan, scope) };
    case "multipart":
      return toMultipart(toParts(toFields(value, place), plan, scope), files);
    case "bytes":
      return { type: "application/octet-stream", content: toBytes(value, place) };
    case "text":
      if (typeof value !== "string") throw toBadValue(place, value, "it is sent as it is, and must be a text");
      return { type: "text/plain; charset=utf-8", content: value };
  }
}

/** The template of a body without those of files (`{ data: "{photo}", name: photo.png }`) whose data is absent. */
function withoutLacking({ body, files }: RequestPlan, scope: Scope): unknown {
  if (!isObject(body) || files.length === 0) return body;
  const isLacking = (file: unknown): boolean =>
    isObject(file) && "data" in file && (toValue(file.data, { ...scope, encode: asItIs }) ?? undefined) === undefined;
  const prune = (file: unknown): unknown =>
    Array.isArray(file) ? file.filter((one) => !isLacking(one)) : isLacking(file) ? null : file;
  return Object.fromEntries(
    Object.entries(body).map(([name, part]) => [name, files.includes(name) ? prune(part) : part]),
  );
}

/** @throws Problem `invalid-input` for a field without which a body that is a longer text would be nothing. */
function refuseLack(body: unknown, scope: Scope): void {
  const parts = typeof body === "string" ? parseTemplate(body) : [];
  const lacking = soleOf(parts)
    ? undefined
    : placeholdersOf(parts).find((place) => readPlace(place, scope) === undefined);
  if (lacking) throw toBadValue(lacking, null, "it is a part of the body, which cannot be sent without it");
}

/** The fields of a form. @throws Problem `invalid-input` for a value that has none, of which nothing would be sent. */
function toFields(value: unknown, place: Placeholder): JsonObject {
  if (isObject(value)) return value;
  throw toBadValue(place, value, "it is sent as a form, and must be a mapping of its fields");
}

/** A list repeats its field, and a mapping is its JSON, unless the field is `name[*]`. */
function toForm(value: JsonObject, plan: RequestPlan, scope: Scope): string {
  return Object.entries(value)
    .flatMap(
      ([name, one]) => spreadOf(name, plan, scope) ?? [one ?? []].flat().map((item: unknown) => toField(name, item)),
    )
    .join("&");
}

/** The fields of a form with files: each field of `name[*]` is one of its own, and those of one name are a list. */
function toParts(value: JsonObject, plan: RequestPlan, scope: Scope): JsonObject {
  const decode = (pair: string): unknown[] => pair.split("=").map(decodeURIComponent);
  const parts = Object.entries(value).flatMap(
    ([name, one]) => spreadOf(name, plan, scope)?.map(decode) ?? [[name, one]],
  );
  const byName = [...Map.groupBy(parts, ([name]) => name as string)];
  return Object.fromEntries(byName.map(([name, all]) => [name, all.flatMap(([, one]) => one ?? [])]));
}

/** `name[key]=value` for each field of what the body sends as `name[*]`; undefined for any other field. */
function spreadOf(name: string, { body }: RequestPlan, scope: Scope): string[] | undefined {
  const template = isObject(body) && isSpread(name) ? body[name] : undefined;
  if (!isObject(body) || typeof template !== "string") return undefined;
  const terms = { scope, plan: { reserved: Object.keys(body), fixed: fixedIn(body) }, isForm: true };
  return toSpread(encodeURIComponent(name), parseTemplate(template), terms);
}

function toField(name: string, item: unknown): string {
  const plain = isObject(item) ? JSON.stringify(item) : item;
  return [name, plain].map((part) => toEncoded(part, toPlace(name), inQuery)).join("=");
}

/** The fields of the input that the rest of the request does not use. */
function toRest(plan: RequestPlan, { input }: Scope): object {
  const taken = new Set(headPlaceholders(plan).map(({ name }) => (Object.hasOwn(input, name) ? name : fieldOf(name))));
  return Object.fromEntries(Object.entries(input).filter(([name]) => !taken.has(name)));
}

interface BodyScope extends Scope {
  /** For values within a longer text. */
  readonly encode: Encode;
}

/** Fills a JSON template. A placeholder that is a whole text keeps its type, `null` included; an absent value is omitted. */
function toValue(template: unknown, scope: BodyScope): unknown {
  if (typeof template === "string") {
    const parts = parseTemplate(template);
    const sole = soleOf(parts);
    return sole ? readValue(sole, scope) : fill(parts, scope, scope.encode);
  }
  if (Array.isArray(template)) return template.map((item) => toValue(item, scope)).filter((item) => item !== undefined);
  if (!isObject(template)) return template;
  const entries = Object.entries(template).map(([name, part]) => [name, toValue(part, scope)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
