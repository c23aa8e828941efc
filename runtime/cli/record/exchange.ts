import type { Upstream } from "../../api/capabilities.ts";
import type { Exchange, RecordedResponse } from "../../sandbox/recordings/recordings.ts";
import { compareShapes, shapeOf } from "./shape.ts";

/** What became of one exchange. */
export interface Outcome {
  /** Failed: the upstream gave no answer that could be compared. */
  readonly verdict: "same" | "changed" | "failed";
  /** What has changed, or why there is no answer. */
  readonly details: readonly string[];
  /** The exchange with the new answer; undefined where that is no answer of the recorded kind, or must not be kept. */
  readonly renewed?: Exchange | undefined;
}

/** An answer, its body as text: of a JSON-RPC call, what stands in a recorded response. */
interface Answer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly text: string;
}

const PATIENCE_MS = 120_000;
const MAX_BYTES = 64 * 1024 * 1024;
/** Longer answers are compared, but no repository wants to keep them. */
const LONGEST_KEPT = 1024 * 1024;
/** The upstream wants a credential, a better one, or money. */
const REFUSALS: readonly number[] = [401, 402, 403];
/** Headers that may be somebody's secret. */
const SECRET_HEADER = /auth|cookie|key|secret|token/;

/**
 * Asks an upstream again what an exchange has asked, and compares the answers. Failures are outcomes.
 * @param secrets what no answer may contain.
 */
export async function recordExchange(
  exchange: Exchange,
  upstream: Upstream,
  secrets: readonly string[],
): Promise<Outcome> {
  try {
    const answer = await ask(exchange, upstream);
    if (REFUSALS.includes(answer.status)) return fail(`${upstream.title} answered with status ${answer.status}`);
    const outcome = compare(exchange, answer);
    const texts = [answer.text, ...toWritten(outcome.renewed)];
    const isRepeated = secrets.some((secret) => texts.some((text) => text.includes(secret)));
    return isRepeated ? fail("the answer repeats a credential") : outcome;
  } catch (error) {
    return fail((error as Error).message);
  }
}

const fail = (why: string): Outcome => ({ verdict: "failed", details: [why] });

async function ask({ request }: Exchange, upstream: Upstream): Promise<Answer> {
  const bounds = { signal: AbortSignal.timeout(PATIENCE_MS), maxBytes: MAX_BYTES };
  if (request.rpc) {
    const { result, error } = await upstream.rpc(request.rpc.method, request.rpc.params, bounds);
    const text = JSON.stringify(error ? { rpc_error: error } : { result });
    return { status: 200, headers: new Headers(), text };
  }
  const [path = "", query] = request.path.split("?", 2);
  const asked = { ...bounds, query: Object.fromEntries(new URLSearchParams(query)) };
  return request.method === "GET" ? upstream.get(path, asked) : upstream.post(path, request.body, asked);
}

function compare(exchange: Exchange, answer: Answer): Outcome {
  const { status = 200 } = exchange.response;
  if (answer.status !== status) return { verdict: "changed", details: [`status ${answer.status}, was ${status}`] };
  const changes = compareShapes(shapeOf(toText(exchange)), shapeOf(answer.text));
  const verdict = changes.length > 0 ? "changed" : "same";
  if (answer.text.length <= LONGEST_KEPT) return { verdict, details: changes, renewed: renew(exchange, answer) };
  return { verdict, details: [...changes, `${answer.text.length} characters are too many to be kept`] };
}

/** The body of a recorded response, as `Answer` has it. */
function toText({ request, response, content }: Exchange): string {
  if (content) return content.toString();
  const { text, json, result, rpc_error } = response;
  if (text !== undefined) return text;
  return JSON.stringify(request.rpc ? (rpc_error ? { rpc_error } : { result }) : json);
}

/** What would be written of a new answer: unescaped, it may say more than the answer itself. */
const toWritten = (exchange: Exchange | undefined): readonly string[] =>
  exchange ? [toText(exchange), ...Object.values(exchange.response.headers ?? {})] : [];

function renew(exchange: Exchange, { headers, text }: Answer): Exchange | undefined {
  const { request, response } = exchange;
  const names = Object.keys(response.headers ?? {}).filter((name) => !SECRET_HEADER.test(name));
  const kept = names.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [[name, value] as const];
  });
  const renewed = { ...response, ...(response.headers && { headers: Object.fromEntries(kept) }) };
  if (response.file !== undefined) return { ...exchange, response: renewed, content: Buffer.from(text) };
  if (response.text !== undefined) return { ...exchange, response: { ...renewed, text } };
  const json = parse(text);
  if (json === undefined) return undefined;
  if (!request.rpc) return { ...exchange, response: { ...renewed, json } };
  const body = json as Pick<RecordedResponse, "result" | "rpc_error">;
  return "result" in body === "result" in response ? { ...exchange, response: { ...renewed, ...body } } : undefined;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
