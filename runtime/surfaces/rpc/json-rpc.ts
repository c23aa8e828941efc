import { isObject } from "../../core/json.ts";

/** The codes that JSON-RPC 2.0 defines itself (section 5.1). */
export const RPC_CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internalError: -32603,
} as const;

/** The message of a parse error. */
export const NOT_JSON = "The body is not JSON in UTF-8, or is nested too deep";

export type RpcId = string | number;

export type RpcParams = Readonly<Record<string, unknown>>;

/** An error object (section 5.1). */
export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}

export interface RpcRequest {
  readonly kind: "request";
  readonly id: RpcId;
  readonly method: string;
  readonly params: RpcParams;
}

/** One parsed message. An invalid message has its id when the id could be read. */
export type RpcMessage =
  | RpcRequest
  | { readonly kind: "notification"; readonly method: string }
  | { readonly kind: "response" }
  | { readonly kind: "invalid"; readonly id: RpcId | undefined; readonly error: RpcError };

/**
 * Reads one JSON-RPC 2.0 message as MCP narrows it: params are an object, null where there are none, and the id is a string
 * or an integer, which is echoed unchanged.
 */
export function readMessage(value: unknown): RpcMessage {
  if (!isObject(value)) return invalid(undefined, "A message must be a JSON object");
  const { jsonrpc, id, method } = value;
  const params = value.params ?? {};
  const known = isId(id) ? id : undefined;
  if (jsonrpc !== "2.0") return invalid(known, 'A message must say "jsonrpc": "2.0"');
  if (method === undefined && ("result" in value || "error" in value)) return { kind: "response" };
  if (typeof method !== "string") return invalid(known, "method must be a string");
  if (!isObject(params)) return invalid(known, "params must be an object");
  if (!("id" in value)) return { kind: "notification", method };
  if (known === undefined) return invalid(undefined, "id must be a string or an integer of at most 53 bits");
  return { kind: "request", id: known, method, params };
}

/** A response (section 5) with a result that is JSON text already. */
export const toResultText = (id: RpcId, result: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`;

/** An error response. An id that could not be read is left out. */
export const toErrorText = (id: RpcId | undefined, error: RpcError): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error });

const isId = (value: unknown): value is RpcId => typeof value === "string" || Number.isSafeInteger(value);

const invalid = (id: RpcId | undefined, message: string): RpcMessage => ({
  kind: "invalid",
  id,
  error: { code: RPC_CODES.invalidRequest, message },
});
