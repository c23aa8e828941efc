import type { Tool } from "@modelcontextprotocol/client";
import { Problem } from "../../api/problem.ts";
import { isObject, tryParseJson } from "../../core/json.ts";
import { CREDENTIAL } from "../../core/proxy/credential.ts";
import { connectMcp, type McpAddress, type McpConnection } from "../../drivers/mcp/connection.ts";
import { reasonOf } from "../call/http.ts";
import type { Env } from "../config/reader.ts";
import { USUAL_PRICE } from "./import-openapi.ts";
import { type Imported, type ImportOutcome, type LeftOut, toUnknown, type UpstreamEntry } from "./imported.ts";
import { recordLive } from "./live.ts";
import { toNamed, toSecretNotes } from "./mcp/arguments.ts";
import { importTools } from "./mcp/tools.ts";
import { toTitle, toVariable, toWord } from "./names.ts";
import { LONGEST_NAME, toCommandLine, toImportReport, toOfferTable } from "./report.ts";
import { applyImport } from "./shop/apply.ts";

/** The command line of `payphone import mcp`. */
export interface McpCommandLine {
  /** A URL, or a program and its arguments. */
  readonly server: readonly string[];
  readonly dir: string;
  readonly tools: readonly string[];
  readonly all: boolean;
  readonly price?: string | undefined;
  readonly upstream?: string | undefined;
  /** The variable that holds the credential of a server over HTTP. */
  readonly key?: string | undefined;
  /** The header that the credential is sent in; default: `authorization`, as a bearer token. */
  readonly keyHeader?: string | undefined;
  /** The variables that are passed to the program, besides `PATH`. */
  readonly variables: readonly string[];
  readonly env: Env;
  readonly isDryRun: boolean;
  /** Whether to record the answers of read-only tools. */
  readonly isLive?: boolean;
}

const CONNECT_MS = 60_000;
const LONGEST_REASON = 300;

/**
 * Imports tools of an MCP server into a shop. Without a selection, lists the tools.
 * @throws Problem `bad-request` for an unusable selection or shop, `upstream-failed` for an unusable server; nothing is
 *   written then.
 */
export async function runMcpImport(command: McpCommandLine): Promise<ImportOutcome> {
  const { server, dir, tools: names, all, price, isLive = false, isDryRun } = command;
  const source = server.join(" ");
  refuseMisplaced(command);
  const lines: string[] = [];
  const session = await connect(command, lines);
  try {
    const { tools, malformed } = await inSilence(() => session.tools()).catch((error: Error) => {
      throw new Problem("upstream-failed", `The list of tools of ${source} cannot be read: ${toReason(error)}`, {
        cause: error,
      });
    });
    if (tools.length === 0) throw new Problem("bad-request", `${source} has no tools`);
    if (!all && names.length === 0) return { report: toTable(tools, malformed, command), isPartial: false };
    const known = [...tools, ...malformed].map(({ name }) => name);
    const unknown = names.filter((name) => !known.includes(name));
    if (unknown.length > 0) throw toUnknown(unknown, known, "tool");
    const isChosen = ({ name }: { readonly name: string }): boolean => all || names.includes(name);
    const upstream = toEntry(command, session);
    const terms = {
      source: toNamed(server),
      upstream,
      tools,
      chosen: tools.filter(isChosen),
      price: price ?? USUAL_PRICE,
    };
    const imported = await importTools(terms);
    const refused = [...malformed.filter(isChosen), ...imported.refused];
    const options = { dir, upstream: upstream.id, isPriceGiven: price !== undefined, isDryRun };
    const notesOn: Imported["notesOn"] = (sold) => [...imported.notesOn(sold), ...toSecretNotes(server)];
    const applied = await applyImport({ ...imported, refused, notesOn }, options);
    const outcome = { report: toImportReport(applied, isDryRun), isPartial: applied.refused.length > 0 };
    const env = {
      ...command.env,
      ...Object.fromEntries(keysIn(upstream.id, server).map((key) => [key.variable, key.value])),
    };
    return await recordLive(outcome, applied, { dir, env: isLive && !isDryRun ? env : undefined });
  } finally {
    await session.close();
  }
}

/** The client warns of tools that it leaves out with their names as they are, control characters and all. */
async function inSilence<T>(work: () => Promise<T>): Promise<T> {
  const { warn } = console;
  console.warn = () => {};
  try {
    return await work();
  } finally {
    console.warn = warn;
  }
}

async function connect(command: McpCommandLine, lines: string[]): Promise<McpConnection> {
  try {
    return await connectMcp(toAddress(command, lines), CONNECT_MS);
  } catch (error) {
    const said = lines.length > 0 ? `\n${lines.slice(-5).join("\n")}` : "";
    const isStarted = !isUrl(command.server) && (error as NodeJS.ErrnoException).code !== "ENOENT";
    const lent = isStarted ? "\nIt gets only PATH, and the variables that --env names." : "";
    throw new Problem(
      "upstream-failed",
      `${command.server.join(" ")} does not answer as an MCP server: ${toReason(error as Error)}${said}${lent}${toHint(command, error)}`,
      { cause: error },
    );
  }
}

/** What a credential lacks that the server asks for, or which transport an address is not of. */
function toHint({ key, env }: McpCommandLine, error: unknown): string {
  const { status } = error as { readonly status?: number };
  if (status === 404 || status === 405)
    return "\nOnly Streamable HTTP is spoken, not the older HTTP+SSE: a server with both has an address for each, often /mcp and /sse.";
  if (status !== 401 && status !== 403) return "";
  if (key === undefined) return "\n--key names the variable that holds its bearer token, or what --key-header sends.";
  if (!env[key]) return `\n${key}, which --key names, is not set.`;
  return `\nWhat ${key} holds was refused: it may be wrong, have expired, or allow too little.`;
}

/** The reason, with what is below it where `fetch` has failed, which does not say why. */
function toReason({ message, cause }: Error): string {
  const why = message.endsWith("fetch failed") && cause instanceof Error ? `${message}: ${reasonOf(cause)}` : message;
  return shorten(why).replaceAll(/\s+/g, " ").slice(0, LONGEST_REASON);
}

/** In place of the SDK's list of all that an answer of another form lacks: the first fault. */
function shorten(message: string): string {
  const at = message.indexOf("[");
  const list = at < 0 ? undefined : tryParseJson(message.slice(at));
  const issue: unknown = Array.isArray(list) ? list[0] : undefined;
  if (!isObject(issue) || !Array.isArray(issue.path)) return message;
  if (issue.code === "invalid_union") return "its answer is no JSON-RPC message";
  return `${message.slice(0, at)}${issue.path.join(".") || "the whole"}: ${issue.message}`;
}

/** @throws Problem `bad-request` for a credential that a server of this kind would not get. */
function refuseMisplaced({ server, key, keyHeader, variables }: McpCommandLine): void {
  if (keyHeader !== undefined && key === undefined)
    throw new Problem("bad-request", "--key-header needs --key, which names the variable of what is sent");
  if (isUrl(server) && variables.length > 0)
    throw new Problem(
      "bad-request",
      "--env is for a program; --key names the variable that holds a URL's bearer token",
    );
  if (!isUrl(server) && key !== undefined)
    throw new Problem("bad-request", `--key is for a URL; a program gets ${key} with --env ${key}`);
}

const isUrl = (server: readonly string[]): boolean => server.length === 1 && /^https?:\/\//.test(server[0] ?? "");

function toAddress({ server, dir, key, keyHeader, variables, env }: McpCommandLine, lines: string[]): McpAddress {
  if (isUrl(server)) {
    const secret = key === undefined ? undefined : env[key];
    const [header, value] = keyHeader ? [keyHeader, secret] : ["authorization", `Bearer ${secret}`];
    return { url: server[0] ?? "", headers: secret === undefined ? {} : { [header]: String(value) } };
  }
  const lent = Object.fromEntries(variables.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]]])));
  return { command: server, env: lent, cwd: dir, onLine: (line) => void lines.push(line) };
}

function toEntry(
  { server, upstream, key, keyHeader, variables }: McpCommandLine,
  { name }: McpConnection,
): UpstreamEntry {
  const id = upstream ?? (toWord(name.replaceAll(/\b(?:mcp|server|servers)\b/gi, " ")) || "tools");
  const title = toTitle(name, id);
  if (!isUrl(server))
    return { id, title, mcp: "stdio", command: server, ...(variables.length > 0 && { env: variables }) };
  const place = keyHeader ? { header: keyHeader } : { header: "authorization", scheme: "Bearer" };
  const inQuery = keysIn(id, server);
  const all = [
    ...(key === undefined ? [] : [{ variable: key, ...place }]),
    ...inQuery.map(({ variable, query }) => ({ variable, query })),
  ];
  const credentials = all.length > 1 ? { keys: all } : all.length > 0 ? { key: all[0] } : {};
  const url = toBare(server[0] ?? "", inQuery);
  return { id, title, mcp: "http", url, variable: toVariable(id, "URL"), ...credentials };
}

interface KeyInQuery {
  readonly variable: string;
  readonly query: string;
  readonly value: string;
}

const ENDS_AS_CREDENTIAL = /(?:key|token|secret|password)$/i;

/** The credentials in the query of a server's address. The shop names their variables only: its files are committed. */
function keysIn(id: string, server: readonly string[]): readonly KeyInQuery[] {
  const { searchParams = [] } = (isUrl(server) && URL.parse(server[0] ?? "")) || {};
  return [...new Map(searchParams)]
    .filter(([name, value]) => value !== "" && (CREDENTIAL.test(name) || ENDS_AS_CREDENTIAL.test(name)))
    .map(([query, value], at) => ({
      variable: toVariable(id, at === 0 ? "QUERY_KEY" : `QUERY_KEY_${at + 1}`),
      query,
      value,
    }));
}

function toBare(text: string, keys: readonly KeyInQuery[]): string {
  if (keys.length === 0) return text;
  const url = new URL(text);
  for (const { query } of keys) url.searchParams.delete(query);
  return url.href;
}

function toTable(
  tools: readonly Tool[],
  malformed: readonly LeftOut[],
  { server, upstream, key, keyHeader, variables }: McpCommandLine,
): string {
  const offers = tools.map(({ name, title = "", description = "" }) => ({
    name,
    call: title,
    tags: [],
    summary: description,
  }));
  const options = {
    "--upstream": upstream,
    "--key": key,
    "--key-header": keyHeader,
    "--env": variables.join(",") || undefined,
  };
  const given = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
  const where = [...given, ...(isUrl(server) ? [] : ["--"]), ...server];
  const command = "npx payphone import mcp";
  const first = tools.find(({ name }) => name.length <= LONGEST_NAME);
  const one = first ? [`  ${command} ${toCommandLine("--tools", first.name, "--price", "0.005", ...where)}`] : [];
  const how = ["Choose:", ...one, `  ${command} ${toCommandLine("--all", ...where)}`];
  return toOfferTable(offers, server.join(" "), how, malformed);
}
