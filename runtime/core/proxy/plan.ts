import type { PollManifest, ProxyManifest } from "../set/manifest.ts";
import { type Placeholder, parseTemplate, placeholdersOf, soleOf, type Template } from "./template.ts";

/** The methods of requests to upstreams. */
export type HttpMethod = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The target of a request: a path below the upstream's URL, or a URL from the input. */
export type RequestTarget =
  | { readonly segments: readonly Template[]; readonly address?: undefined }
  | { readonly address: Placeholder };

export interface RequestPlan {
  readonly method: HttpMethod;
  readonly target: RequestTarget;
  /** Names and literal texts are already encoded. */
  readonly query: readonly (readonly [name: string, template: Template])[];
  readonly headers: readonly (readonly [name: string, template: Template])[];
  /** `input`: all fields that the rest of the request does not use. In a template, literal texts are not encoded. */
  readonly body?: unknown;
  readonly encoding: BodyEncoding;
  /** The fields of a form that are files. */
  readonly files: readonly string[];
  /** The query parameters that an input must not set: those of the manifest and of the upstream. */
  readonly reserved: readonly string[];
  /** Those of them that no input sets at all. */
  readonly fixed: readonly string[];
}

export type BodyEncoding = NonNullable<ProxyManifest["encoding"]>;

/** The parts of `proxy` that make a request. */
export type RequestManifest = Pick<ProxyManifest, "query" | "headers" | "body" | "encoding" | "files">;

/**
 * Reads a request line, `METHOD /path` or `METHOD {field}`, which is already checked.
 * @param parameters the query parameters of the upstream's own URL and credentials.
 */
export function toRequestPlan(
  line: string,
  parts: RequestManifest = {},
  parameters: readonly string[] = [],
): RequestPlan {
  const [method = "", path = ""] = line.split(" ");
  const address = soleOf(parseTemplate(path));
  const { query = {}, headers = {}, body, encoding = "json", files = [] } = parts;
  return {
    method: method as HttpMethod, // As the grammar says.
    target: address ? { address } : { segments: path.split(SLASHES).slice(1).map(parseTemplate) },
    query: Object.entries(query).map(([name, text]) => [encodeURIComponent(name), toQueryTemplate(String(text))]),
    headers: Object.entries(headers).map(([name, text]) => [name.toLowerCase(), parseTemplate(text)]),
    ...(body !== undefined && { body }),
    encoding,
    files,
    reserved: [...parameters, ...Object.keys(query)],
    fixed: [...parameters, ...fixedIn(query)],
  };
}

/** The names of constants. */
export const fixedIn = (parts: Readonly<Record<string, unknown>>): readonly string[] =>
  Object.entries(parts).flatMap(([name, text]) =>
    typeof text === "string" && placeholdersOf(parseTemplate(text)).length > 0 ? [] : [name],
  );

/**
 * The requests that poll an order, by which its input can be checked before there is an order: each part of the order's
 * answer has a stand-in.
 */
export const toPollPlans = (poll: Pick<PollManifest, "request" | "result"> | undefined): readonly RequestPlan[] =>
  [poll?.request, poll?.result].flatMap((line) => (line === undefined ? [] : toPollPlan(toRequestPlan(line))));

function toPollPlan({ target, ...plan }: RequestPlan): RequestPlan | [] {
  if (target.address) return []; // A fault of the manifest.
  const toKnown = (part: string | Placeholder): string | Placeholder =>
    typeof part === "object" && part.source === "order" ? "-" : part;
  return { ...plan, target: { segments: target.segments.map((segment) => segment.map(toKnown)) } };
}

const toQueryTemplate = (text: string): Template =>
  parseTemplate(text).map((part) => (typeof part === "string" ? encodeURIComponent(part) : part));

/** The slashes of a path, except those of a JSON Pointer in a placeholder. */
const SLASHES = /\/(?![^{}]*\})/;

/** The placeholders of a request, except those of its body. */
export function headPlaceholders({ target, query, headers }: RequestPlan): readonly Placeholder[] {
  const path = target.address ? [target.address] : target.segments.flatMap(placeholdersOf);
  return [...path, ...[...query, ...headers].flatMap(([, template]) => placeholdersOf(template))];
}
