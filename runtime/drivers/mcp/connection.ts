import { StringDecoder } from "node:string_decoder";
import type { Client, ClientOptions, ReadBuffer, Transport } from "@modelcontextprotocol/client";
import { createBoundedFetch } from "../http/bounded-body.ts";
import { toRetryAfterMs } from "../http/retry-after.ts";
import { LONGEST_REST_MS } from "../upstream/gate.ts";
import { gatherLines, toExactResponse } from "./exact-results.ts";
import { createLines } from "./lines.ts";
import { takeOutMalformed } from "./malformed-tools.ts";
import { dropNulls } from "./nulls.ts";
import { endOnExit, killAll, treeOf } from "./process-tree.ts";
import { endStreams } from "./request-streams.ts";
import { type CallTool, createToolCalls, inTime } from "./tool-calls.ts";
import { type ListedTool, listCallable, listTools, type ToolList } from "./tool-list.ts";

/** An open session with an MCP server. */
export interface McpConnection {
  readonly call: CallTool;
  /** Whether the server answers a ping, or of a version without pings its description, even with an error. */
  isAlive(timeoutMs: number): Promise<boolean>;
  /** The pause that the server named with its last 429, in milliseconds; at most `LONGEST_REST_MS`. */
  askedMs?(): number | undefined;
  /** All tools. @throws as `listTools`. */
  tools(): Promise<ToolList>;
  /** The tools, as `listCallable`; a recorded session has no list. */
  callable?(timeoutMs: number): Promise<readonly ListedTool[]>;
  /** The name that the server reports. */
  readonly name: string;
  /** Resolves when the session has ended, on either side. */
  readonly ended: Promise<void>;
  /** The server's process, for a server over standard input and output. */
  readonly pid: number | undefined;
  close(): Promise<void>;
}

/** The address of an MCP server. */
export type McpAddress = McpCommand | McpUrl;

/** A server over standard input and output. */
export interface McpCommand {
  readonly command: readonly string[];
  /** All environment variables of the process, besides `PATH`. */
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Receives the lines that the process writes to standard error: at most 100 a minute. */
  readonly onLine?: (line: string) => void;
}

/** A server over Streamable HTTP. */
export interface McpUrl {
  readonly url: string;
  /** Credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

const INFO = { name: "payphone", version: "1" };
const LARGEST_MESSAGE = 16 * 1024 * 1024;
/** Variables that the client would pass on by default. */
const INHERITED = ["HOME", "LOGNAME", "SHELL", "TERM", "USER"];

/** Opens a session. Loads the SDK. @throws the client's errors, with `askedMs`; nothing is left open then. */
export async function connectMcp(address: McpAddress, timeoutMs: number): Promise<McpConnection> {
  // No version negotiation for programs: the client would start them twice.
  if (!("url" in address)) return openSession(address, timeoutMs, {});
  const probe = { timeoutMs: timeoutMs / 2 }; // Half of the time is left to the call that waits for the session.
  try {
    return await openSession(address, timeoutMs, { versionNegotiation: { mode: "auto", probe } });
  } catch (error) {
    const { mayBeOlder } = await import("./failures.ts");
    if (!mayBeOlder(error)) throw error;
    return openSession(address, timeoutMs, {});
  }
}

async function openSession(address: McpAddress, timeoutMs: number, options: ClientOptions): Promise<McpConnection> {
  const { Client, isSpecType } = await import("@modelcontextprotocol/client");
  const client = new Client(INFO, options);
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  client.onclose = resolve;
  const { transport, pidOf, askedMs } = await ("url" in address ? openUrl(address) : openProcess(address));
  try {
    await client.connect(takeOutMalformed(transport, isSpecType.Tool), { timeout: timeoutMs });
  } catch (error) {
    await client.close().catch(() => {});
    throw Object.assign(error as Error, { askedMs: askedMs?.() });
  }
  const pid = pidOf();
  if (pid !== undefined) void ended.then(endOnExit(pid));
  return {
    call: createToolCalls(client),
    isAlive: (within) => answersPing(client, within),
    ...(askedMs && { askedMs }),
    tools: () => listTools(client, timeoutMs),
    callable: (within) => listCallable(client, within),
    name: nameOf(client),
    ended,
    get pid() {
      return pidOf();
    },
    close: () => client.close(),
  };
}

async function answersPing(client: Client, timeoutMs: number): Promise<boolean> {
  const { ProtocolError } = await import("@modelcontextprotocol/client");
  const ask = client.getProtocolEra() === "modern" ? client.discover : client.ping;
  return inTime<unknown>(timeoutMs, new AbortController().signal, (bounds) => ask.call(client, bounds)).then(
    () => true,
    (error: unknown) => error instanceof ProtocolError,
  );
}

function nameOf(client: Client): string {
  const { title, name } = client.getServerVersion() ?? {};
  return title ?? name ?? "";
}

interface Opened {
  readonly transport: Transport;
  readonly pidOf: () => number | undefined;
  readonly askedMs?: () => number | undefined;
}

async function openUrl({ url, headers }: McpUrl): Promise<Opened> {
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/client");
  // The client follows redirects within the server's own origin only: others would get the credential.
  const requestInit = { headers: { ...headers } };
  const ask = createBoundedFetch("The MCP server", LARGEST_MESSAGE);
  let asked: number | undefined;
  const fetch: typeof ask = async (...request) => {
    const response = await ask(...request);
    if (response.status === 429) {
      const pauseMs = toRetryAfterMs(response.headers.get("retry-after"), Date.now());
      asked = pauseMs && Math.min(pauseMs, LONGEST_REST_MS);
    }
    return toExactResponse(response);
  };
  const transport = dropNulls(endStreams(new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch })));
  return { transport, pidOf: () => undefined, askedMs: () => asked };
}

async function openProcess({ command, env, cwd, onLine }: McpCommand): Promise<Opened> {
  const { StdioClientTransport } = await import("@modelcontextprotocol/client/stdio");
  const [program = "", ...args] = command;
  const hidden = Object.fromEntries(INHERITED.map((name) => [name, undefined]));
  const transport = new StdioClientTransport({
    command: program,
    args,
    env: { ...hidden, ...env } as Record<string, string>, // Node omits undefined variables.
    cwd,
    stderr: "pipe",
    maxBufferSize: LARGEST_MESSAGE,
  });
  dropNulls(transport);
  const { _readBuffer: buffer } = transport as unknown as { readonly _readBuffer: Pick<ReadBuffer, "append"> };
  buffer.append = gatherLines(buffer.append.bind(buffer)); // It throws an error when a message is too large.
  const lines = createLines((line) => onLine?.(line), Date.now);
  const decoder = new StringDecoder("utf8");
  transport.stderr?.on("data", (chunk: Buffer) => lines.add(decoder.write(chunk)));
  transport.stderr?.on("end", lines.end);
  transport.onerror = () => {
    const { pid } = transport;
    // After an oversized message the transport closes itself, which takes seconds when the process ignores it.
    queueMicrotask(() => pid !== null && transport.pid === null && killAll(treeOf(pid)));
  };
  return { transport, pidOf: () => transport.pid ?? undefined };
}
