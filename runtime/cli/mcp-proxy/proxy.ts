import type { Readable, Writable } from "node:stream";
import type { Progress, ProgressToken } from "@modelcontextprotocol/client";
import { type CallToolResult, type ListToolsResult, Server } from "@modelcontextprotocol/server";
import { StdioServerTransport, serveStdio } from "@modelcontextprotocol/server/stdio";
import packageJson from "../../../package.json" with { type: "json" };
import { Problem } from "../../api/problem.ts";
import { openWallet } from "../call/buyer-wallet.ts";
import { field, textField } from "../call/http.ts";
import { loadRails } from "../call/rails-file.ts";
import type { Config } from "../config/config.ts";
import { printable } from "../printable.ts";
import type { Terminal } from "../terminal.ts";
import { type BudgetLimits, createDailyBudget } from "./budget.ts";
import { keepInput } from "./exact-input.ts";
import { createLostPayments } from "./lost.ts";
import { createPurchases } from "./purchase.ts";
import { type ToolResult, toFailure } from "./results.ts";
import { openSeller, type Tell } from "./seller.ts";
import { toReadable, toReadablePage, withPlainInputs } from "./well-formed.ts";

/** The command line of `payphone mcp-proxy`. */
export interface McpProxyOptions {
  /** The address of an MCP server over Streamable HTTP. */
  readonly url: string;
  readonly limits: BudgetLimits;
  /** The folder of the daily payment files. */
  readonly spendingDir: string;
  /** Its `manifests/_site.yaml` names the rails to pay on. */
  readonly dir: string;
  /** False when the seller is none, whatever it says; by default it is asked. */
  readonly sandbox?: boolean;
}

/** What the client writes to, and what it reads. */
interface Wire {
  readonly stdin: Readable;
  readonly stdout: Writable;
}

const INFO = { name: "payphone-mcp-proxy", version: packageJson.version };
/** A list could go on for ever. */
const MOST_PAGES = 50;
/** A stock client gives up after a minute; until then it must hear that a payment is on its way. */
export const REPEAT_MS = 45_000;

/** Serves another server's tools over standard input and output, and pays for their calls, until the input ends. */
export async function runMcpProxy(
  config: Config,
  options: McpProxyOptions,
  { err, signal, stdin, stdout }: Pick<Terminal, "err" | "signal"> & Wire,
): Promise<void> {
  const rails = await loadRails(options.dir);
  const schemas = createToolSchemas();
  const listeners = createListeners();
  const seller = openSeller({ url: options.url, info: INFO, schemaOf: schemas.ofInput, tell: listeners.tell });
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
      return schemas.ofInput(tool);
    },
    // Asked for each payment: a sandbox can be started where a shop was, and no real key may sign there.
    openWallet: (cancelled) =>
      openWallet(config, { base: toBase(options.url), mayBeSandbox: options.sandbox ?? true }, cancelled),
    rails,
    budget: createDailyBudget(options.spendingDir, options.limits, Date.now),
    lost: createLostPayments(options.spendingDir, options.url, Date.now),
    say: (text) => err(printable(text)),
    now: Date.now,
    patienceMs: REPEAT_MS,
  });
  const open = (): Server => {
    const server = new Server(INFO, { capabilities: { tools: {} } });
    server.setRequestHandler("tools/list", async ({ params }, { mcpReq }) => {
      const page = withPlainInputs(await list({ ...params, _meta: undefined }, mcpReq.signal));
      return page as unknown as ListToolsResult;
    });
    server.setRequestHandler("tools/call", async ({ params }, { mcpReq }) => {
      const { name, arguments: input = {}, _meta: { progressToken: token } = {} } = params;
      const asked = { name, arguments: input, ...(token !== undefined && { _meta: { progressToken: token } }) };
      const leave = listeners.add(token, (progress) => {
        const params = { ...progress, progressToken: token };
        void mcpReq.notify({ method: "notifications/progress", params }).catch(() => undefined);
      });
      const result = toReadable(await call(asked, mcpReq.signal).catch(toTold).finally(leave));
      return server.projectCallToolResult(result as unknown as CallToolResult, undefined); // Older clients read objects only.
    });
    return server;
  };
  const transport = new StdioServerTransport(stdin.pipe(keepInput()), stdout);
  const handle = serveStdio(open, { transport });
  const { perCall, perDay } = options.limits;
  err(`Paying for tools of ${options.url}: at most ${perCall} USD a call and ${perDay} USD a day.`);
  await ended(stdin, signal);
  await handle.close();
  stdin.destroy(); // It would keep the process alive.
  await seller.close();
}

type Token = ProgressToken | undefined;

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
function createToolSchemas(): {
  has(tool: string): boolean;
  ofInput(tool: string): unknown;
  learn(page: ToolResult): void;
} {
  const known = new Map<string, unknown>();
  return {
    has: (name) => known.has(name),
    ofInput: (name) => field(known.get(name), "inputSchema"),
    learn({ tools }) {
      for (const tool of Array.isArray(tools) ? tools : []) {
        const name = textField(tool, "name");
        if (name !== undefined) known.set(name, tool);
      }
    },
  };
}

/** The tool result that tells a model of a failure. @throws errors that are not Problems. */
function toTold(error: unknown): ToolResult {
  if (error instanceof Problem) return toFailure(error.message);
  throw error;
}

/** The seller's base URL, which can have a path: that of its MCP endpoint without the query and the last segment. */
function toBase(url: string): string {
  const { origin, pathname } = new URL(url);
  return origin + pathname.replace(/\/+$/, "").replace(/\/[^/]*$/, "");
}

/** Resolves when the client closes its end, or the process is told to stop. */
async function ended(stdin: Readable, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  stdin.once("end", resolve).once("close", resolve);
  signal.addEventListener("abort", () => resolve(), { once: true });
  await promise;
}
