import { readFile } from "node:fs/promises";
import { addAbortSignal } from "node:stream";
import { buffer as readAll } from "node:stream/consumers";
import { Problem } from "../../api/problem.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import { toQueryPairs } from "../../surfaces/schema/path-fields.ts";
import { printable } from "../printable.ts";
import { type Paid, SAY_MS } from "./buyer-wallet.ts";
import { ask, field, type SellerRequest, textField } from "./http.ts";

/** The request to send, and what the seller's catalogue says about the service. */
export interface Target {
  /** The seller's base URL. */
  readonly base: string;
  readonly request: SellerRequest;
  /** What of the input is in the address's path, as texts by name. */
  readonly inPath: Readonly<Record<string, string>>;
  /** What of the input is in the query of a GET, as it was given. */
  readonly inQuery: Readonly<Record<string, unknown>>;
  /** Dollars in decimal text; undefined when the catalogue has no price. */
  readonly priceUsd: string | undefined;
}

interface Entry {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly priceUsd: string | undefined;
}

/**
 * Finds a service by its id, its path or its URL. Method and price come from the catalogue at `GET <base>/`.
 * @throws Problem `bad-request` when the seller has no such service, or the input lacks a parameter of its path.
 */
export async function findTarget(
  service: string,
  {
    base: givenBase,
    method,
    input,
    mayBeSandbox,
    signal,
  }: Paid & { readonly method: string | undefined; readonly input: unknown; readonly signal: AbortSignal },
): Promise<Target> {
  const url = service.includes("/") ? toAddress(service, givenBase) : undefined;
  if (url && !/^https?:$/.test(url.protocol)) throw new Problem("bad-request", `"${service}" is no web address`);
  const { base, entries, entry } = url
    ? await findSeller(url, { base: givenBase, mayBeSandbox }, signal)
    : await findListed(givenBase, ({ id }) => id === service, signal);
  if (!url && !entry) {
    const ids = entries.map(({ id }) => printable(id));
    const sells = ids.length > 0 ? `it sells ${ids.join(", ")}` : "it shows no catalogue, so give a path or a URL";
    throw new Problem("bad-request", `${base} has no service "${service}": ${sells}${didYouMean(service, ids)}`);
  }
  // With its fields in a query it is a GET: the query of a POST is ignored, and defaults would be paid for.
  const isQueried = input === undefined && url?.search;
  if (input !== undefined && url?.search && method === undefined && entry?.method === "POST")
    throw new Problem("bad-request", `${service} is asked with POST, whose query is ignored: ${QUERY_OR_INPUT}`);
  const known = method ?? (isQueried ? "GET" : entry?.method) ?? (input === undefined ? "GET" : "POST");
  const address = entry ? base + entry.path + (url?.search ?? "") : String(url);
  return { base, ...toRequest(known, address, input ?? {}), priceUsd: entry?.priceUsd };
}

const QUERY_OR_INPUT = "give all fields in the input, or use --method GET (or POST, if the seller reads it)";

/** A service's address: a URL, or a path below the seller's. */
const toAddress = (service: string, base: string): URL | null =>
  URL.parse(service) ?? URL.parse(`${base}/${service.replace(/^\//, "")}`);

/** What a seller lists, and the service that was looked for. */
interface Listed {
  readonly base: string;
  readonly entries: readonly Entry[];
  readonly entry: Entry | undefined;
}

async function findListed(base: string, isWanted: (entry: Entry) => boolean, signal: AbortSignal): Promise<Listed> {
  const entries = await catalogue(base, signal);
  return { base, entries, entry: entries.find(isWanted) };
}

/**
 * The seller of a URL, which can be below a path: the first base that lists it, or else the longest that lists anything.
 * Only a seller that is found can say that it is a sandbox; one that is none need not answer here.
 */
async function findSeller(url: URL, { base: givenBase, mayBeSandbox }: Paid, signal: AbortSignal): Promise<Listed> {
  const first = url.href.startsWith(`${givenBase}/`) ? givenBase : url.origin;
  const names = new URL(".", url).href
    .slice(first.length + 1)
    .split("/")
    .slice(0, -1);
  let best: Listed | undefined;
  for (let depth = 0; depth <= Math.min(names.length, MOST_NAMES); depth += 1) {
    const base = [first, ...names.slice(0, depth)].join("/");
    const isWanted = ({ path }: Entry): boolean => new URL(base + path).pathname === url.pathname;
    const listed = await findListed(base, isWanted, signal).catch((error: unknown) => {
      signal.throwIfAborted();
      if (mayBeSandbox) throw toUnlisted(base, Problem.from(error));
    });
    if (!listed) return best ?? { base, entries: [], entry: undefined };
    if (listed.entry) return listed;
    if (!best || listed.entries.length > 0) best = listed;
  }
  return best as Listed;
}

const toUnlisted = (base: string, { message }: Problem): Problem => {
  const how = "use --no-sandbox if you know that it takes real money";
  return new Problem("upstream-failed", `${message}, asked what it sells (GET ${base}/): ${how}. Nothing was paid.`);
};

/** How many parts of a URL's path are looked at for a seller's base. */
const MOST_NAMES = 4;

/** The services that the seller lists; empty when its catalogue is missing or of another form. */
async function catalogue(base: string, signal: AbortSignal): Promise<Entry[]> {
  const request = { method: "GET", url: `${base}/`, body: undefined };
  const services = field((await ask(request, { signal, timeoutMs: SAY_MS })).json, "services");
  return (Array.isArray(services) ? services : []).flatMap((service: unknown) => {
    const [id, method, path] = ["id", "method", "path"].map((name) => textField(service, name));
    return id && method && path?.startsWith("/")
      ? [{ id, method, path, priceUsd: textField(service, "price_usd") }]
      : [];
  });
}

/**
 * Puts fields of the input into the path's `{name}` parameters, and the rest into the query of a GET or into a body.
 */
function toRequest(method: string, address: string, input: unknown): Pick<Target, "request" | "inPath" | "inQuery"> {
  const rest = new Map(Object.entries(input as Record<string, unknown>));
  const inPath: Record<string, string> = {};
  const url = new URL(
    address.replace(/\{(\w+)\}|%7B(\w+)%7D/g, (_match, plain?: string, encoded?: string) => {
      const name = plain ?? encoded ?? "";
      const value = rest.get(name);
      if (value === undefined || value === null)
        throw new Problem("bad-request", `the address holds {${name}}: give it in the input, like '{"${name}":"…"}'`);
      if (typeof value === "object")
        throw new Problem(
          "bad-request",
          `{${name}} is a part of the address: it must be a text, a number or a boolean`,
        );
      if (/^\.{0,2}$/.test(String(value)))
        throw new Problem("bad-request", `{${name}} is a part of the address: it must not be empty, "." or ".."`);
      rest.delete(name);
      inPath[name] = String(value);
      return encodeURIComponent(toWhole(name, String(value)));
    }),
  );
  const fields = Object.fromEntries(rest);
  if (method !== "GET")
    return { request: { method, url: url.href, body: JSON.stringify(fields) }, inPath, inQuery: {} };
  for (const [name, value] of rest) {
    refuseUnheld(name, value);
    url.searchParams.delete(name);
  }
  for (const [name, text] of toQueryPairs(fields)) url.searchParams.append(name, toWhole(name, text));
  return { request: { method, url: url.href, body: undefined }, inPath, inQuery: fields };
}

/** A list of nothing would be left out, and the default be paid for. @throws Problem `bad-request`. */
function refuseUnheld(name: string, value: unknown): void {
  const isLost = Array.isArray(value) && !value.some(Array.isArray) && (value.length === 0 || value.includes(null));
  if (!isLost) return;
  const how = "leave it out, or use --method POST";
  throw new Problem("bad-request", `${name} is an empty list, or has null in it, which no query can hold: ${how}`);
}

/** A text for an address, which would hold another character in place of half a one. @throws Problem `bad-request`. */
function toWhole(name: string, text: string): string {
  if (text.isWellFormed()) return text;
  throw new Problem("bad-request", `${name} has half of a character (a lone surrogate), which no address can hold`);
}

/**
 * Reads the input argument: JSON, `@file`, or `-` for standard input; undefined when there is none.
 * @throws Problem `bad-request`.
 */
export async function readInputArgument(given: string | undefined, signal: AbortSignal): Promise<unknown> {
  if (given === undefined) return undefined;
  const bytes =
    given === "-"
      ? await readAll(addAbortSignal(signal, process.stdin))
      : given.startsWith("@")
        ? await readFrom(given)
        : undefined;
  const text = bytes ? toText(bytes) : given;
  let input: unknown;
  try {
    input = JSON.parse(text, refuseRounded);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const hint = given === text ? `; quote it for your shell, like '{"low":1,"high":6}'` : "";
    throw new Problem("bad-request", `the input is not JSON (${(error as Error).message})${hint}`);
  }
  if (typeof input !== "object" || input === null || Array.isArray(input))
    throw new Problem("bad-request", `the input must be a JSON object, like '{"low":1,"high":6}'`);
  return input;
}

/** A number that JavaScript cannot hold would be sent, and paid for, as another one or as null. */
function refuseRounded(_key: string, value: unknown, { source = "" }: { readonly source?: string } = {}): unknown {
  if (typeof value === "number" && isChanged(value, source))
    throw new Problem("bad-request", `the input has ${source}, which would be sent as ${value}: write it as a text`);
  return value;
}

const isChanged = (value: number, source: string): boolean =>
  !Number.isFinite(value) || (/^-?\d{16,}$/.test(source) && BigInt(source) !== BigInt(value));

/** Other bytes would be sent, and paid for, as U+FFFD. A byte order mark is left out. */
function toText(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new Problem("bad-request", "the input is not UTF-8, as JSON must be: save it as UTF-8");
  }
}

async function readFrom(given: string): Promise<Buffer> {
  try {
    return await readFile(given.slice(1));
  } catch (error) {
    throw new Problem("bad-request", `cannot read ${given.slice(1)} (${(error as NodeJS.ErrnoException).code})`);
  }
}
