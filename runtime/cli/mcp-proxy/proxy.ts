import {
  Client,
  type Progress,
  type ProgressToken,
  ProtocolError,
  StreamableHTTPClientTransport,
  type Tool,
} from "@modelcontextprotocol/client";
import { type CallToolResult, type ListToolsResult, Server } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";
import packageJson from "../../../package.json" with { type: "json" };
import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import { createBoundedFetch } from "../../drivers/http/bounded-body.ts";
import { toCallProblem } from "../../drivers/mcp/failures.ts";
import { endStreams } from "../../drivers/mcp/request-streams.ts";
import { openWallet } from "../call/buyer-wallet.ts";
import { field, reasonOf, textField } from "../call/http.ts";
import { loadRails } from "../call/rails-file.ts";
import type { Config } from "../config/config.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { type BudgetLimits, createDailyBudget } from "./budget.ts";
import { createLostPayments } from "./lost.ts";
import { createPurchases, type ToolRequest } from "./purchase.ts";
import { keepResults, wholeOf } from "./raw-results.ts";
import { type ToolResult, toErrorResult, toFailure } from "./results.ts";
import { toReadable, toReadablePage } from "./well-formed.ts";

/** The command line of `payphone mcp-proxy`. */
export interface McpProxyOptions {
  /** The address of an MCP server over Streamable HTTP. */
  readonly url: string;
  readonly limits: BudgetLimits;
  /** The folder of the daily payment files. */
  readonly spendingDir: string;
  /** Its `manifests/_site.yaml` names the rails to pay on. */
  readonly dir: string;
}

const INFO = { name: "payphone-mcp-proxy", version: packageJson.version };
const ANSWER_MS = 120_000;
/** A list could go on for ever. */
const MOST_PAGES = 50;
/** Room for the largest files that are sold, in base64, twice. */
const LARGEST_MESSAGE = 32 * 1024 * 1024;
/** A stock client gives up after a minute; until then it must hear that a payment is on its way. */
export const REPEAT_MS = 45_000;

/** Serves another server's tools over standard input and output, and pays for their calls, until the input ends. */
export async function runMcpProxy(config: Config, options: McpProxyOptions, { err, signal }: Terminal): Promise<void> {
  const rails = await loadRails(options.dir);
  const schemas = createToolSchemas();
  const listeners = createListeners();
  const seller = openSeller(options.url, schemas.get, listeners.tell);
  const list = async (params: object, cancelled: AbortSignal): Promise<ToolResult> => {
    const page = toReadablePage(await seller.request("tools/list", params, cancelled));
    schemas.learn(page);
    return page;
  };
  const listAll = async (cancelled: AbortSignal): Promise<void> => {
    let cursor: string | undefined;
    for (let page = 0; page < MOST_PAGES; page++) {
      cursor = textField(await list(cursor === undefined ? {} : { cursor }, cancelled), "nextCursor");
      if (cursor === undefined) return;
    }
  };
  const call = createPurchases({
    ask: (tool, cancelled) => seller.request("tools/call", tool, cancelled),
    async schemaOf(tool, cancelled, isFresh) {
      // Without the list, nothing is checked here: the seller checks anyway.
      if (isFresh || !schemas.has(tool)) await listAll(cancelled).catch(() => undefined);
      return schemas.get(tool);
    },
    // Asked for each payment: a sandbox can be started where a shop was, and no real key may sign there.
    openWallet: (cancelled) => openWallet(config, toBase(options.url), cancelled),
    rails,
    budget: createDailyBudget(options.spendingDir, options.limits, Date.now),
    lost: createLostPayments(options.spendingDir, options.url, Date.now),
    say: (text) => err(printable(text)),
    now: Date.now,
    patienceMs: REPEAT_MS,
  });
  const handle = serveStdio(() => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", async ({ params }, { mcpReq }) => {
      const page = await list({ ...params, _meta: undefined }, mcpReq.signal);
      return page as unknown as ListToolsResult;
    });
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const { name, arguments: input = {}, _meta: { progressToken: token } = {} } = params;
      const asked = { name, arguments: input, ...(token !== undefined && { _meta: { progressToken: token } }) };
      const leave = listeners.add(token, (progress) => {
        const params = { ...progress, progressToken: token };
        void mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
      });
      const result = await call(asked, mcpReq.signal).catch(toTold).finally(leave);
      return toReadable(result) as unknown as CallToolResult;
    });
    return server;
  });
  const { perCall, perDay } = options.limits;
  err(`Paying for tools of ${options.url}: at most ${perCall} USD a call and ${perDay} USD a day.`);
  await ended(signal);
  await handle.close();
  await seller.close();
}

type Token = ProgressToken | undefined;
type Tell = (token: Token, progress: Progress) => void;

/** The callers that listen to the progress of their calls, by their tokens. What they hear grows, also when a call is sent again. */
function createListeners(): {
  readonly tell: Tell;
  /** @returns ends the listening */
  add(token: Token, listener: (progress: Progress) => void): () => void;
} {
  const all = new Map<Token, (progress: Progress) => void>();
  return {
    tell: (token, progress) => all.get(token)?.(progress),
    add(token, listener) {
      let most = Number.NEGATIVE_INFINITY;
      all.set(token, (progress) => {
        if (progress.progress <= most) return;
        most = progress.progress;
        listener(progress);
      });
      return () => void all.delete(token);
    },
  };
}

/** The input schemas of the tools in the lists that were passed on. */
function createToolSchemas(): Pick<Map<string, unknown>, "has" | "get"> & { learn(page: ToolResult): void } {
  const known = new Map<string, unknown>();
  return {
    has: (name) => known.has(name),
    get: (name) => known.get(name),
    learn({ tools }) {
      for (const tool of Array.isArray(tools) ? tools : []) {
        const name = textField(tool, "name");
        if (name !== undefined) known.set(name, field(tool, "inputSchema"));
      }
    },
  };
}

/** The tool result that tells a model of a failure. @throws errors that are not Problems. */
function toTold(error: unknown): ToolResult {
  if (error instanceof Problem) return toFailure(error.message);
  throw error;
}

/**
 * @param schemaOf the input schema of a tool, which can ask for headers (MCP 2026-07-28, "x-mcp-header")
 * @param tell hears of the progress of the calls that have a token for it
 */
function openSeller(
  url: string,
  schemaOf: (tool: string) => unknown,
  tell: Tell,
): {
  request(method: "tools/call", params: ToolRequest, signal: AbortSignal): Promise<ToolResult>;
  request(method: "tools/list", params: object, signal: AbortSignal): Promise<ToolResult>;
  close(): Promise<void>;
} {
  let opened: Promise<Client> | undefined;
  const connect = async (): Promise<Client> => {
    const client = new Client(INFO, { versionNegotiation: { mode: "auto" } });
    client.onclose = () => {
      opened = undefined;
    };
    // Redirects are not followed, because a payment is meant for the server that asked for it.
    const requestInit = { redirect: "error" } as const;
    const fetch = createBoundedFetch("it", LARGEST_MESSAGE);
    const transport = keepResults(endStreams(new StreamableHTTPClientTransport(new URL(url), { requestInit, fetch })));
    await client.connect(transport);
    return client;
  };
  return {
    request: (method, params, signal) => request({ method, params } as Asked, signal),
    async close() {
      await (await opened?.catch(() => undefined))?.close();
    },
  };

  /** Opens a new session once when the seller has forgotten the old one: it has not run the call (MCP, "Session Management"). */
  async function request(asked: Asked, signal: AbortSignal, isAgain = false): Promise<ToolResult> {
    opened ??= connect();
    const session = opened;
    const client = await session.catch((error: Error) => {
      leave(session);
      const why = reasonOf(error.cause ?? error); // The client's own words hide the network's.
      throw new Problem("upstream-failed", `${url} cannot be reached: ${why}`, { cause: error });
    });
    const token = asked.params._meta?.progressToken;
    // A caller who listens waits for as long as it hears something.
    const listening = { onprogress: (heard: Progress) => tell(token, heard), resetTimeoutOnProgress: true };
    const options = { signal, timeout: ANSWER_MS, ...(token !== undefined && listening) };
    const inputSchema = asked.method === "tools/call" ? schemaOf(asked.params.name) : undefined;
    // Results are passed on unchecked: this definition has no output schema, and `request` knows none.
    const answer = isObject(inputSchema)
      ? client.callTool(asked.params, { ...options, toolDefinition: toDefinition(asked.params.name, inputSchema) })
      : client.request(asked, options);
    try {
      return wholeOf(await answer);
    } catch (error) {
      const { isForgotten = false } = toCallProblem(error, url);
      if (isForgotten || !(error instanceof ProtocolError)) leave(session); // It may have ended: the next request opens a new one.
      if (isForgotten && !isAgain && !signal.aborted) return request(asked, signal, true);
      if (!(error instanceof ProtocolError)) {
        const why = reasonOf((error as Error).cause ?? error);
        throw new Problem("upstream-failed", `the call to ${url} failed: ${why}`, { cause: error });
      }
      const challenge = toErrorResult(error);
      if (challenge) return challenge;
      throw error;
    }
  }

  /** Another request may have opened a new session meanwhile. */
  function leave(session: Promise<Client>): void {
    if (opened === session) opened = undefined;
  }
}

/** `tools/list` has other parameters, which are passed on as they are. */
interface Asked {
  readonly method: "tools/call";
  readonly params: { readonly name: string; readonly _meta?: { readonly progressToken?: ProgressToken } };
}

/** The seller's base URL, which can have a path: that of its MCP endpoint without the last segment. */
const toBase = (url: string): string => new URL(".", url.replace(/\/+$/, "")).href.replace(/\/$/, "");

const toDefinition = (name: string, inputSchema: object): Tool => ({
  name,
  inputSchema: { ...inputSchema, type: "object" },
});

/** Resolves when the client closes its end, or the process is told to stop. */
async function ended(signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  process.stdin.once("end", resolve).once("close", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
