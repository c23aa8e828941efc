import { isObject } from "../../core/json.ts";
import { RPC_CODES, type RpcParams } from "../rpc/json-rpc.ts";
import type { McpCall } from "./payment.ts";
import { type McpRefusal, type McpRequest, protocolError } from "./request.ts";
import { createResultWriter, type McpIdentity, type McpVersion, MODERN, toServerInfo, VERSIONS } from "./versions.ts";

/** The tools behind the protocol. */
export interface Tools {
  /** The tools as `tools/list` shows them in a version. Called once per version. */
  list(version: McpVersion): readonly object[];
  /** Calls a tool. Failures are results; the promise never rejects. */
  call(call: ToolCall): Promise<ToolAnswer | McpRefusal>;
}

export interface ToolCall extends CallContext {
  readonly name: string;
  readonly args: RpcParams;
  readonly version: McpVersion;
  /** The JSON of a `CallToolResult` in this version. */
  readonly write: (result: object) => string;
}

/** The facts of the HTTP request that a call needs. */
export interface CallContext {
  readonly payment: string | object | undefined;
  /** Whether challenges are wanted in the form of x402 version 1. */
  readonly version1: boolean;
  /** A wallet's proof for signing in. */
  readonly signIn: string | object | undefined;
  /** The exchange between peers that the call belongs to. */
  readonly exchange?: string | undefined;
  readonly requestId: string;
  /** The size of the message. */
  readonly bytes: number;
  readonly json: string;
  /** Aborted when the caller disconnects: a result that nobody receives is not charged. */
  readonly signal: AbortSignal;
}

/** A result as JSON text, and how the call of a service ended, if there was one. */
export interface ToolAnswer {
  readonly result: string;
  readonly call?: McpCall;
}

export interface McpMethodsOptions {
  readonly identity: McpIdentity;
  readonly instructions: string;
  readonly tools: Tools;
}

/** How long clients may cache lists, which change when another set is sold. */
const CACHING = { ttlMs: 300_000, cacheScope: "public" };
const CAPABILITIES = { tools: {} };

/** Answers a request whose version is known. Answers that are the same for all clients are serialized once. */
export type McpMethods = (request: McpRequest, context: CallContext) => Promise<ToolAnswer | McpRefusal>;

export function createMcpMethods({ identity, instructions, tools }: McpMethodsOptions): McpMethods {
  const toEra = (version: McpVersion) => {
    const write = createResultWriter(identity, version);
    const serverInfo = toServerInfo(identity, version);
    const caching = version === MODERN && CACHING;
    return {
      write,
      tools: write({ tools: tools.list(version), ...caching }),
      initialize: write({ protocolVersion: version, capabilities: CAPABILITIES, serverInfo, instructions }),
    };
  };
  const eras = Object.fromEntries(VERSIONS.map((version) => [version, toEra(version)])) as Record<
    McpVersion,
    ReturnType<typeof toEra>
  >;
  // `server/discover` came with the stateless version, and has the same form in all versions.
  const discovery = { supportedVersions: VERSIONS, capabilities: CAPABILITIES, instructions, ...CACHING };
  const discover = eras[MODERN].write(discovery);

  return async (request, context) => {
    const { method, params, version } = request;
    const era = eras[version];
    if (method === "tools/call") return callTool(request, context, era.write);
    if (method === "server/discover") return { result: discover };
    if (method === "tools/list") {
      return (params.cursor ?? undefined) === undefined
        ? { result: era.tools }
        : protocolError(RPC_CODES.invalidParams, "There is no such page: the list has one page and no cursor");
    }
    if (version !== MODERN && method === "initialize") return { result: era.initialize };
    if (version !== MODERN && method === "ping") return { result: "{}" };
    // In versions with a handshake, 404 would mean that the session has ended.
    return protocolError(
      RPC_CODES.methodNotFound,
      `There is no method ${JSON.stringify(method)}`,
      version === MODERN ? 404 : 200,
    );
  };

  async function callTool(
    { params, version }: McpRequest,
    context: CallContext,
    write: ToolCall["write"],
  ): Promise<ToolAnswer | McpRefusal> {
    const { name } = params;
    const args = params.arguments ?? {};
    if (typeof name !== "string") return protocolError(RPC_CODES.invalidParams, "params.name must be a string");
    if (!isObject(args)) return protocolError(RPC_CODES.invalidParams, "params.arguments must be an object");
    return tools.call({ ...context, name, args, version, write });
  }
}
