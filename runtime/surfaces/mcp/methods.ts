import { isObject } from "../../core/json.ts";
import { RPC_CODES, type RpcParams } from "../json-rpc.ts";
import type { McpCall } from "./payment.ts";
import { type McpRefusal, type McpRequest, refuse } from "./request.ts";
import { createResultWriter, type McpIdentity, type McpVersion, MODERN, toServerInfo, VERSIONS } from "./versions.ts";

/** What stands behind the protocol: tools, and nothing else. */
export interface Tools {
  /** The tools as `tools/list` shows them in a version. Asked once for each. */
  list(version: McpVersion): readonly object[];
  /** Calls a tool. Failures of the tool are results; what it rejects with would be a fault of ours. */
  call(call: ToolCall): Promise<ToolAnswer | McpRefusal>;
}

export interface ToolCall extends CallContext {
  readonly name: string;
  readonly args: RpcParams;
  readonly version: McpVersion;
  /** Writes a `CallToolResult` down as the version has it. */
  readonly write: (result: object) => string;
}

/** What comes from the transport. */
export interface CallContext {
  readonly payment: string | object | undefined;
  readonly requestId: string;
  /** Aborted when the caller is gone, in every era: nobody could be given the result any more, so nobody shall pay for it. */
  readonly signal: AbortSignal;
}

/** A result as JSON text, and what is to be known of the call. */
export interface ToolAnswer {
  readonly result: string;
  readonly call?: McpCall;
}

export interface McpMethodsOptions {
  readonly identity: McpIdentity;
  readonly instructions: string;
  readonly tools: Tools;
}

/** How long clients may keep what does not change before a restart. Everybody is told the same. */
const CACHING = { ttlMs: 300_000, cacheScope: "public" };
const CAPABILITIES = { tools: {} };

/** Answers a request whose version is settled. What is the same for everybody is written once. */
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
  // It was born in the stateless era and has one form, whoever asks.
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
        : refuse(RPC_CODES.invalidParams, "There is no such page: the list has one, and no cursor");
    }
    if (version !== MODERN && method === "initialize") return { result: era.initialize };
    if (version !== MODERN && method === "ping") return { result: "{}" };
    // In the handshake eras, 404 would say that a session is gone.
    return refuse(
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
    if (typeof name !== "string") return refuse(RPC_CODES.invalidParams, "params.name must be a string");
    if (!isObject(args)) return refuse(RPC_CODES.invalidParams, "params.arguments must be an object");
    return tools.call({ ...context, name, args, version, write });
  }
}
