import { isObject } from "../../core/json.ts";
import { type RequestHeaders, readHeader } from "../http/headers.ts";
import { RPC_CODES, type RpcError, type RpcParams, type RpcRequest } from "../rpc/json-rpc.ts";
import { decodeHeader } from "./encoded-header.ts";
import { HANDSHAKE, isStateless, type McpVersion, MODERN, UNNAMED, VERSIONS } from "./versions.ts";

/** A request whose version is known and whose headers agree with its body. */
export interface McpRequest {
  readonly method: string;
  readonly params: RpcParams;
  readonly meta: RpcParams;
  readonly version: McpVersion;
}

/** A protocol error and its HTTP status. */
export interface McpRefusal {
  readonly status: number;
  readonly error: RpcError;
}

/** The codes that MCP 2026-07-28 defines. */
const MCP_CODES = { headerMismatch: -32020, unsupportedVersion: -32022 } as const;

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities";

/** A protocol error; most versions answer it with status 200. */
export const protocolError = (code: number, message: string, status = 200): McpRefusal => ({
  status,
  error: { code, message },
});

/**
 * Determines the version of a request and checks that its headers agree with its body (MCP 2026-07-28, "Server
 * Validation"). A version in `_meta` makes the request stateless; a stateless header without one in `_meta` is a fault;
 * every other request belongs to a version with a handshake. The protocol prescribes the order of the checks:
 * agreement, support, headers, capabilities.
 */
export function openRequest({ method, params }: RpcRequest, headers: RequestHeaders): McpRequest | McpRefusal {
  const meta = isObject(params._meta) ? params._meta : {};
  const named = readHeader(headers, "mcp-protocol-version");
  const version =
    meta[VERSION_KEY] === undefined ? settle(method, params, named) : settleClaim(meta[VERSION_KEY], named);
  if (typeof version === "object") return version;
  const request = { method, params, meta, version };
  return (version === MODERN && checkStateless(request, headers)) || request;
}

/** The refusal of a notification that names a version that is not served. */
export function checkNamedVersion(headers: RequestHeaders): McpRefusal | undefined {
  const named = readHeader(headers, "mcp-protocol-version");
  return named === undefined || VERSIONS.some((known) => known === named) ? undefined : unsupported(named);
}

function settleClaim(claim: unknown, named: string | undefined): McpVersion | McpRefusal {
  if (typeof claim !== "string") return missing(VERSION_KEY, "a string");
  if (named !== undefined && named !== claim)
    return mismatch(`MCP-Protocol-Version is ${quote(named)}, but params._meta says ${quote(claim)}`);
  return claim === MODERN ? MODERN : unsupported(claim);
}

function settle(method: string, params: RpcParams, named: string | undefined): McpVersion | McpRefusal {
  if (named !== undefined && isStateless(named)) {
    if (named !== MODERN) return unsupported(named);
    if (method !== "initialize") return MODERN; // The missing version in `_meta` is reported after the faults of the headers.
    return mismatch(`initialize opens a handshake, which MCP-Protocol-Version ${MODERN} does not have`);
  }
  const version = HANDSHAKE.find((known) => known === (named ?? UNNAMED));
  if (!version) return unsupported(named as string);
  if (method !== "initialize") return version;
  const { protocolVersion } = params;
  if (typeof protocolVersion !== "string")
    return protocolError(RPC_CODES.invalidParams, "params.protocolVersion must be a string");
  return HANDSHAKE.find((known) => known === protocolVersion) ?? HANDSHAKE[0];
}

function checkStateless({ method, params, meta }: McpRequest, headers: RequestHeaders): McpRefusal | undefined {
  if (readHeader(headers, "mcp-protocol-version") === undefined)
    return mismatch(`MCP-Protocol-Version is missing; send it as ${MODERN}`);
  const fault =
    explainMethod(readHeader(headers, "mcp-method"), method) ??
    (method === "tools/call" ? explainName(readHeader(headers, "mcp-name"), params.name) : undefined);
  if (fault !== undefined) return mismatch(fault);
  if (meta[VERSION_KEY] === undefined) return missing(VERSION_KEY, "a string");
  return isObject(meta[CAPABILITIES_KEY]) ? undefined : missing(CAPABILITIES_KEY, "an object");
}

function explainMethod(named: string | undefined, method: string): string | undefined {
  if (named === undefined) return `Mcp-Method is missing; send it as ${quote(method)}`;
  return named === method ? undefined : `Mcp-Method is ${quote(named)}, but the body's method is ${quote(method)}`;
}

/** A body without a name is reported by a later check. */
function explainName(named: string | undefined, name: unknown): string | undefined {
  if (named === undefined) return name === undefined ? undefined : "Mcp-Name is missing; send the tool's name";
  const decoded = decodeHeader(named);
  return decoded !== undefined && decoded === name ? undefined : `Mcp-Name is ${quote(named)}, and params.name is not`;
}

const missing = (key: string, kind: string): McpRefusal =>
  protocolError(RPC_CODES.invalidParams, `params._meta["${key}"] must be ${kind}`, 400);

const mismatch = (message: string): McpRefusal =>
  protocolError(MCP_CODES.headerMismatch, `Header mismatch: ${message}`, 400);

/** The list omits the requested version, so that a client that picks from it does not repeat its request. */
const unsupported = (requested: string): McpRefusal => ({
  status: 400,
  error: {
    code: MCP_CODES.unsupportedVersion,
    message: `Unsupported protocol version: ${quote(requested)}`,
    data: { supported: VERSIONS.filter((version) => version !== requested), requested },
  },
});

const quote = (text: string): string => JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
