import { isObject } from "../json.ts";
import { asItIs, inHeader, inPath, inQuery, isTreacherous } from "./encoding.ts";
import { type HttpMethod, headPlaceholders, type RequestPlan } from "./plan.ts";
import { type Placeholder, parseTemplate, readPlace, type Scope, soleOf, type Template } from "./template.ts";
import { fill, toBadValue, toEncoded } from "./values.ts";

/** A request, ready to be sent. Nothing in it can be read as more than what the manifest says. */
export interface ProxyRequest {
  readonly method: HttpMethod;
  /** An encoded path that begins with a slash; of an address, the whole URL. */
  readonly target: string;
  /** Encoded, without the question mark. */
  readonly query: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: { readonly type: string; readonly text: string };
}

/** Fills a request from the checked input. @throws Problem `invalid-input` for a value that does not fit its place. */
export function toRequest(plan: RequestPlan, scope: Scope): ProxyRequest {
  const { method, headers } = plan;
  const filled = headers.flatMap(([name, template]) => {
    const text = fill(template, scope, inHeader);
    return text === undefined ? [] : [[name, text] as const];
  });
  const body = toBody(plan, scope);
  return {
    method,
    target: toTarget(plan, scope),
    query: plan.query.flatMap(([name, template]) => toParameters(name, template, scope)).join("&"),
    headers: Object.fromEntries(filled),
    ...(body && { body }),
  };
}

function toTarget({ target }: RequestPlan, scope: Scope): string {
  if (!target.address) return target.segments.map((segment) => `/${toSegment(segment, scope)}`).join("");
  const url = readPlace(target.address, scope);
  if (typeof url !== "string") throw toBadValue(target.address, url, "the address is missing");
  return url;
}

function toSegment(template: Template, scope: Scope): string {
  const text = fill(template, scope, inPath);
  const [place] = template.filter((part) => typeof part === "object");
  if (!place) return text ?? "";
  const value = readPlace(place, scope);
  if (!text) throw toBadValue(place, value, "it stands in a path and must not be empty");
  if (isTreacherous(text)) throw toBadValue(place, value, 'it stands in a path and must not be "." or ".."');
  return text;
}

/** `name=value`, several times for a list that is exploded; nothing for an absent value. */
function toParameters(name: string, template: Template, scope: Scope): string[] {
  const sole = soleOf(template);
  const value = sole?.isExploded ? readPlace(sole, scope) : undefined;
  if (sole && Array.isArray(value)) return value.map((item) => `${name}=${toEncoded(item, sole, inQuery)}`);
  const text = fill(template, scope, inQuery);
  return text === undefined ? [] : [`${name}=${text}`];
}

function toBody(plan: RequestPlan, scope: Scope): ProxyRequest["body"] {
  const { body, encoding } = plan;
  if (body === undefined) return undefined;
  const value = body === "input" ? toRest(plan, scope) : toValue(body, scope);
  if (encoding === "json") return { type: "application/json", text: JSON.stringify(value ?? null) };
  const fields = isObject(value) ? Object.entries(value) : [];
  const pairs = fields.flatMap(([name, one]) => [one ?? []].flat().map((item) => toField(name, item)));
  return { type: "application/x-www-form-urlencoded", text: pairs.join("&") };
}

function toField(name: string, item: unknown): string {
  const place: Placeholder = { text: name, name, source: "input", isExploded: false };
  return `${encodeURIComponent(name)}=${toEncoded(item, place, inQuery)}`;
}

/** The fields of the input that stand nowhere else in the request. */
function toRest(plan: RequestPlan, { input }: Scope): object {
  const taken = new Set(headPlaceholders(plan).map(({ name }) => (Object.hasOwn(input, name) ? name : firstOf(name))));
  return Object.fromEntries(Object.entries(input).filter(([name]) => !taken.has(name)));
}

const firstOf = (name: string): string => name.split(".")[0] ?? name;

/** A template of JSON with its values; a placeholder that is a whole text keeps its type, and an absent one is left out. */
function toValue(template: unknown, scope: Scope): unknown {
  if (typeof template === "string") {
    const parts = parseTemplate(template);
    const sole = soleOf(parts);
    return sole ? readPlace(sole, scope) : fill(parts, scope, asItIs);
  }
  if (Array.isArray(template)) return template.map((item) => toValue(item, scope)).filter((item) => item !== undefined);
  if (!isObject(template)) return template;
  const entries = Object.entries(template).map(([name, part]) => [name, toValue(part, scope)] as const);
  return Object.fromEntries(entries.filter(([, value]) => value !== undefined));
}
