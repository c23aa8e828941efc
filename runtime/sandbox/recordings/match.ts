import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/json.ts";
import type { HttpMethod } from "../../core/proxy/plan.ts";
import type { RecordedRequest } from "./recordings.ts";

/** A request to be matched with recorded ones. */
export interface SentRequest {
  readonly method: HttpMethod;
  /** Path and query below the upstream's URL. */
  readonly path: string;
  /** The parsed body; undefined when there is none. */
  readonly body: unknown;
}

export const fits = (recorded: RecordedRequest, { method, path, body }: SentRequest): boolean =>
  methodOf(recorded) === method && fitsPath(recorded, path) && fitsBody(recorded, body);

export const methodOf = (recorded: RecordedRequest): HttpMethod => (recorded.rpc ? "POST" : recorded.method);

/** Whether path and query match; the order of the query does not matter. The path of a JSON-RPC call is empty. */
export const fitsPath = (recorded: RecordedRequest, path: string): boolean =>
  toSorted(recorded.rpc ? "" : recorded.path) === toSorted(path);

/** Whether a body contains the recorded one. A JSON-RPC call must have exactly the recorded parameters, with any id. */
export function fitsBody(recorded: RecordedRequest, body: unknown): boolean {
  if (!recorded.rpc) return contains(body, recorded.body);
  const { method, params } = recorded.rpc;
  return isRpcCall(body) && body.method === method && isDeepStrictEqual(body.params ?? [], params);
}

/** A JSON-RPC 2.0 call with unchecked members. */
export interface JsonRpcCall {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Whether a body is a JSON-RPC 2.0 call (section 4), of whatever method. */
export const isRpcCall = (body: unknown): body is JsonRpcCall => isObject(body) && body.jsonrpc === "2.0";

/** Characters of a label. */
const LONGEST_LABEL = 80;

/** A short label for a request: the JSON-RPC method, or the HTTP method and the beginning of the path; never a body. */
export function toLabel(request: RecordedRequest): string {
  const label = request.rpc ? request.rpc.method : `${request.method} ${request.path || "/"}`;
  return label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL)}…` : label;
}

/** Path and query of a URL relative to a base URL, without the base's query; undefined when it is not below the base. */
export function toPathBelow(url: URL, baseUrl: string): string | undefined {
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/$/, "");
  if (url.origin !== base.origin || !`${url.pathname}/`.startsWith(`${prefix}/`)) return undefined;
  const query = new URLSearchParams(url.search);
  for (const [name, value] of base.searchParams) query.delete(name, value);
  return url.pathname.slice(prefix.length) + (query.size > 0 ? `?${query}` : "");
}

function toSorted(path: string): string {
  const { pathname, searchParams } = new URL(`http://below${path}`);
  searchParams.sort();
  return `${pathname}?${searchParams}`;
}

/** Whether a value contains a part: objects key by key; lists in order, with other elements allowed anywhere. */
function contains(value: unknown, part: unknown): boolean {
  if (part === undefined) return true;
  if (Array.isArray(part)) return Array.isArray(value) && containsInOrder(value, part);
  if (!isObject(part)) return value === part;
  return isObject(value) && Object.entries(part).every(([key, wanted]) => contains(value[key], wanted));
}

function containsInOrder(elements: readonly unknown[], parts: readonly unknown[]): boolean {
  let next = 0;
  return parts.every((part) => {
    next = elements.findIndex((element, at) => at >= next && contains(element, part)) + 1;
    return next > 0;
  });
}
