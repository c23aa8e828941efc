import { isDeepStrictEqual } from "node:util";
import { isObject } from "../../core/json.ts";
import type { RecordedRequest } from "./recordings.ts";

/** A request as recordings are asked for it. */
export interface Question {
  readonly method: "GET" | "POST";
  /** Path and query below the upstream's URL. */
  readonly path: string;
  /** The body as JSON; undefined when there is none. */
  readonly body: unknown;
}

/** Whether a recorded request is the one that was sent. */
export const fits = (recorded: RecordedRequest, { method, path, body }: Question): boolean =>
  methodOf(recorded) === method && fitsPath(recorded, path) && fitsBody(recorded, body);

/** The HTTP method of a recorded request. */
export const methodOf = (recorded: RecordedRequest): "GET" | "POST" => (recorded.rpc ? "POST" : recorded.method);

/** Whether path and query are the recorded ones, in whatever order the query is. A node is called at its URL itself. */
export const fitsPath = (recorded: RecordedRequest, path: string): boolean =>
  toSorted(recorded.rpc ? "" : recorded.path) === toSorted(path);

/** Whether a body has all of the recorded one; a JSON-RPC call has exactly the recorded parameters, and any id. */
export function fitsBody(recorded: RecordedRequest, body: unknown): boolean {
  if (!recorded.rpc) return contains(body, recorded.body);
  const { method, params } = recorded.rpc;
  return isRpcCall(body) && body.method === method && isDeepStrictEqual(body.params ?? [], params);
}

/** A JSON-RPC 2.0 call; its members are anything. */
export interface RpcCall {
  readonly id?: unknown;
  readonly method?: unknown;
  readonly params?: unknown;
}

/** Whether a body is a JSON-RPC 2.0 call (section 4), of whatever method. */
export const isRpcCall = (body: unknown): body is RpcCall => isObject(body) && body.jsonrpc === "2.0";

/** Characters of a request that people are shown. */
const LONGEST_LABEL = 80;

/** A request for people: a call by its method, any other by its method and the beginning of its path; never a body. */
export function toLabel(request: RecordedRequest): string {
  const label = request.rpc ? request.rpc.method : `${request.method} ${request.path || "/"}`;
  return label.length > LONGEST_LABEL ? `${label.slice(0, LONGEST_LABEL)}…` : label;
}

/** Path and query of a URL below another one, without the other's query; undefined where it is not below it. */
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

/** Whether a value has all of a part: objects key by key, lists in their order, with others before, between and after. */
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
