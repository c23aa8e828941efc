import { findRounded, tryParseJson } from "../../core/json.ts";
import type { RepeatsCredential } from "../../drivers/upstream/leaks.ts";
import type { PlainRequest } from "../../drivers/upstream/question.ts";
import type { LiveUpstream } from "../../drivers/upstream/upstream.ts";
import type { RecordedExchange, RecordedResponse } from "../../sandbox/recordings/recordings.ts";
import { compareShapes, shapeOf } from "./shape.ts";

/** The comparison of a live answer with the recorded one. */
export interface Comparison {
  /** `failed`: there is no answer to compare. */
  readonly verdict: "same" | "changed" | "failed";
  /** What changed, or why there is no answer. */
  readonly details: readonly string[];
  /** The exchange with the new answer; undefined when the answer is of another kind or must not be kept. */
  readonly renewed?: RecordedExchange | undefined;
}

/** A live answer. For a JSON-RPC call, the text is `{ "result": … }` or `{ "rpc_error": … }`, as in recordings. */
interface LiveAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
  /** Set when the recorded answer is a file. */
  readonly bytes?: Buffer;
}

/** How a recorded request is repeated. */
export interface RepeatTerms {
  /** Of what no written answer may contain. */
  readonly repeatsCredential: RepeatsCredential;
  /** Headers of the request, which recordings do not keep. */
  readonly headers: Readonly<Record<string, string>>;
}

const PATIENCE_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Longer answers are compared but not written. */
const LONGEST_KEPT = 1024 * 1024;
/** The upstream requires a credential, a different one, or a payment. */
const REFUSALS: readonly number[] = [401, 402, 403];
const SECRET_HEADER = /auth|cookie|key|secret|token/;

/**
 * Sends a recorded request again and compares the answers. Never throws.
 */
export async function recordExchange(
  exchange: RecordedExchange,
  upstream: LiveUpstream,
  { repeatsCredential, headers }: RepeatTerms,
): Promise<Comparison> {
  try {
    const answer = await ask(exchange, upstream, headers);
    if (REFUSALS.includes(answer.status)) return fail(`${upstream.title} answered with status ${answer.status}`);
    const comparison = compare(exchange, answer);
    const texts = [answer.text, ...toWritten(comparison.renewed)];
    const isRepeated = texts.some((text) => repeatsCredential(Buffer.from(text)));
    return isRepeated ? fail("the answer repeats a credential") : comparison;
  } catch (error) {
    return fail((error as Error).message);
  }
}

const fail = (why: string): Comparison => ({ verdict: "failed", details: [why] });

async function ask(
  { request, response }: RecordedExchange,
  upstream: LiveUpstream,
  headers: RepeatTerms["headers"],
): Promise<LiveAnswer> {
  const bounds = { signal: AbortSignal.timeout(PATIENCE_MS), maxBytes: MAX_BYTES };
  if (request.rpc) {
    const { result, error } = await upstream.rpc(request.rpc.method, request.rpc.params, bounds);
    const text = JSON.stringify(error ? { rpc_error: error } : { result });
    return { status: 200, headers: new Headers(), text };
  }
  const [path = "", ...rest] = request.path.split("?");
  const query = rest.join("?");
  const { method, body, type } = request;
  const parameters = new URLSearchParams(query);
  const isRepeated = parameters.size > new Set(parameters.keys()).size;
  if (response.file !== undefined || type !== undefined || isRepeated || !["GET", "POST"].includes(method)) {
    const sent = { method, path, query, headers, body: toSent(body, type) };
    const answer = await upstream.send(sent, { ...bounds, isRepeatable: method === "GET" });
    return { status: answer.status, headers: answer.headers, text: answer.body.toString(), bytes: answer.body };
  }
  const asked = { ...bounds, headers, query: Object.fromEntries(parameters) };
  return request.method === "GET" ? upstream.get(path, asked) : upstream.post(path, request.body, asked);
}

/** @throws Error for files, because recordings keep only their digests. */
function toSent(body: unknown, type: string | undefined): PlainRequest["body"] {
  if (body === undefined) return undefined;
  if (type === undefined) return { type: "application/json", content: JSON.stringify(body) };
  if (typeof body === "string") return { type, content: body };
  throw new Error("it sends a file, which the recording does not keep: delete the recording, and record it with --new");
}

function compare(exchange: RecordedExchange, answer: LiveAnswer): Comparison {
  const { status = 200 } = exchange.response;
  if (answer.status !== status) return { verdict: "changed", details: [`status ${answer.status}, was ${status}`] };
  const changes = compareShapes(shapeOf(toText(exchange)), shapeOf(answer.text));
  const verdict = changes.length > 0 ? "changed" : "same";
  if (answer.text.length <= LONGEST_KEPT) return { verdict, details: changes, renewed: renew(exchange, answer) };
  return { verdict, details: [...changes, `${answer.text.length} characters are too many to be kept`] };
}

/** The body of a recorded response, in the form of `LiveAnswer`. */
function toText({ request, response, content }: RecordedExchange): string {
  if (content) return content.toString();
  const { text, json, result, rpc_error } = response;
  if (text !== undefined) return text;
  return JSON.stringify(request.rpc ? (rpc_error ? { rpc_error } : { result }) : json);
}

/** The texts that would be written, unescaped: they may contain a secret that the escaped answer hides. */
const toWritten = (exchange: RecordedExchange | undefined): readonly string[] =>
  exchange ? [toText(exchange), ...Object.values(exchange.response.headers ?? {})] : [];

function renew(exchange: RecordedExchange, { headers, text, bytes }: LiveAnswer): RecordedExchange | undefined {
  const { request, response } = exchange;
  const names = Object.keys(response.headers ?? {}).filter((name) => !SECRET_HEADER.test(name));
  const kept = names.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const renewed = { ...response, ...(response.headers && { headers: Object.fromEntries(kept) }) };
  if (response.file !== undefined) return { ...exchange, response: renewed, content: bytes ?? Buffer.from(text) };
  if (response.text !== undefined) return { ...exchange, response: { ...renewed, text } };
  const json = tryParseJson(text);
  if (json === undefined) return undefined;
  if (!request.rpc)
    return { ...exchange, response: findRounded(json, () => text) ? asText(renewed, text) : { ...renewed, json } };
  const body = json as Pick<RecordedResponse, "result" | "rpc_error">;
  return "result" in body === "result" in response ? { ...exchange, response: { ...renewed, ...body } } : undefined;
}

/** JSON whose integers would be rounded, as `payphone record --new` keeps it. */
function asText({ json: _, headers, ...response }: RecordedResponse, text: string): RecordedResponse {
  return { ...response, headers: { "content-type": "application/json", ...headers }, text };
}
