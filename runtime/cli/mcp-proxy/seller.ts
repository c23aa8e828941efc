import {
  Client,
  type ClientOptions,
  type Progress,
  type ProgressToken,
  ProtocolError,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type Tool,
} from "@modelcontextprotocol/client";
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { createBoundedFetch } from "../../drivers/http/bounded-body.ts";
import { toExactResponse } from "../../drivers/mcp/exact-results.ts";
import { mayBeOlder, toCallProblem } from "../../drivers/mcp/failures.ts";
import { dropNulls } from "../../drivers/mcp/nulls.ts";
import { endStreams } from "../../drivers/mcp/request-streams.ts";
import { CALL_MS, field, reasonOf, textField } from "../call/http.ts";
import type { ToolRequest } from "./purchase.ts";
import { keepResults, wholeOf } from "./raw-results.ts";
import { type ToolResult, toErrorResult } from "./results.ts";

/** Hears of a call's progress. */
export type Tell = (token: ProgressToken | undefined, progress: Progress) => void;

/** A seller's MCP server. */
export interface McpSeller {
  /** @throws Problem `upstream-failed` when no answer came; ProtocolError when the answer is an error. */
  request(method: "tools/call", params: ToolRequest, signal: AbortSignal): Promise<ToolResult>;
  request(method: "tools/list", params: object, signal: AbortSignal): Promise<ToolResult>;
  close(): Promise<void>;
}

export interface McpSellerOptions {
  readonly url: string;
  /** How the proxy names itself. */
  readonly info: { readonly name: string; readonly version: string };
  /** The input schema of a tool, which can ask for headers (MCP 2026-07-28, "x-mcp-header"). */
  readonly schemaOf: (tool: string) => unknown;
  /** Hears of the progress of the calls that have a token for it. */
  readonly tell: Tell;
}

/** How long a seller has to say which versions it speaks. The caller, who may wait for a minute only, must hear of the rest. */
const PROBE_MS = 10_000;
/** Room for the largest files that are sold, in base64, twice. */
const LARGEST_MESSAGE = 32 * 1024 * 1024;

/** Opens a session with the first request. */
export function openSeller({ url, info, schemaOf, tell }: McpSellerOptions): McpSeller {
  const { origin, pathname } = new URL(url);
  const title = origin + pathname; // The rest may hold a key, which is no model's business.
  /** Ends all requests: a session that is being opened cannot be closed. */
  const stop = new AbortController();
  let opened: Session | undefined;
  /** Those that are not closed yet. */
  const sessions = new Set<Session>();
  const open = async (options: ClientOptions): Promise<Client> => {
    const client = new Client(info, options);
    // The client follows redirects within the seller's own origin only: a payment is meant for the server that asked for it.
    const ask = createBoundedFetch("it", LARGEST_MESSAGE);
    const fetch: typeof ask = async (at, { signal, ...init } = {}) =>
      toExactResponse(await ask(at, { ...init, signal: AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]) }));
    const transport = endStreams(new StreamableHTTPClientTransport(new URL(url), { fetch }));
    await client.connect(keepResults(dropNulls(transport)));
    return client;
  };
  const connect = (): Promise<Client> =>
    open({ versionNegotiation: { mode: "auto", probe: { timeoutMs: PROBE_MS } } }).catch((error: unknown) => {
      if (!mayBeOlder(error)) throw error;
      return open({}).catch(() => {
        throw error;
      });
    });
  const start = (): Session => {
    const session = { client: connect(), waiting: 0 };
    sessions.add(session);
    return session;
  };
  return {
    request: (method, params, signal) => request({ method, params } as Asked, signal),
    async close() {
      stop.abort();
      await Promise.all([...sessions].map(end));
    },
  };

  async function request(asked: Asked, signal: AbortSignal, isAgain = false): Promise<ToolResult> {
    opened ??= start();
    const session = opened;
    session.waiting += 1;
    try {
      return await ask(session, { asked, signal, isAgain });
    } finally {
      session.waiting -= 1;
      if (session !== opened && session.waiting === 0) await end(session);
    }
  }

  /** Opens a new session once when the seller has forgotten the old one: it has not run the call (MCP, "Session Management"). */
  async function ask(
    session: Session,
    { asked, signal, isAgain }: { readonly asked: Asked; readonly signal: AbortSignal; readonly isAgain: boolean },
  ): Promise<ToolResult> {
    const client = await session.client.catch((error: Error) => {
      leave(session);
      throw new Problem("upstream-failed", `${title} cannot be reached: ${toWhy(error)}`, { cause: error });
    });
    const token = asked.params._meta?.progressToken;
    // A caller who listens waits for as long as it hears something.
    const listening = { onprogress: (heard: Progress) => tell(token, heard), resetTimeoutOnProgress: true };
    const options = { signal, timeout: CALL_MS, ...(token !== undefined && listening) };
    const inputSchema = asked.method === "tools/call" ? schemaOf(asked.params.name) : undefined;
    // Results are passed on unchecked: this definition has no output schema, and `request` knows none.
    const answer = isObject(inputSchema)
      ? client.callTool(asked.params, { ...options, toolDefinition: toDefinition(asked.params.name, inputSchema) })
      : client.request(asked, options);
    try {
      return wholeOf(await answer);
    } catch (error) {
      const { isForgotten = false } = toCallProblem(error, title);
      if (isForgotten || !(error instanceof ProtocolError)) leave(session); // It may have ended: the next request opens a new one.
      if (isForgotten && !isAgain && !signal.aborted) return request(asked, signal, true);
      if (!(error instanceof ProtocolError)) {
        throw new Problem("upstream-failed", `the call to ${title} failed: ${toWhy(error)}`, { cause: error });
      }
      const challenge = toErrorResult(error);
      if (challenge) return challenge;
      throw error;
    }
  }

  /** Another request may have opened a new session meanwhile. Others may still wait in this one: the last of them ends it. */
  function leave(session: Session): void {
    if (opened === session) opened = undefined;
  }

  /** A session that is not closed may keep a stream open, and with it the process. */
  async function end(session: Session): Promise<void> {
    sessions.delete(session);
    await session.client.then((client) => client.close()).catch(() => undefined);
  }
}

/** A session with the seller, and how many requests are in it. */
interface Session {
  readonly client: Promise<Client>;
  waiting: number;
}

/** The client's own words hide the network's, and the status of an answer without a text. */
function toWhy(error: unknown): string {
  if (Array.isArray(field(error, "issues"))) return "its answer is no message of MCP"; // The client's own words are a list.
  if (!(error instanceof SdkHttpError)) return reasonOf((error as Error).cause ?? error);
  const said = textField(error.data, "text")?.slice(0, 500) ?? /Redirect to [^;]+/.exec(error.message)?.[0];
  return [`it answers ${error.status}`, said].filter(Boolean).join(": ");
}

/** `tools/list` has other parameters, which are passed on as they are. */
interface Asked {
  readonly method: "tools/call";
  readonly params: { readonly name: string; readonly _meta?: { readonly progressToken?: ProgressToken } };
}

const toDefinition = (name: string, inputSchema: object): Tool => ({
  name,
  inputSchema: { ...inputSchema, type: "object" },
});
