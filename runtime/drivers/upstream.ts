import type { Clock, Log, Upstream, UpstreamAnswer, UpstreamRequest, UpstreamStream } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { toEndpoint } from "./chain-call.ts";
import { createPatience, type Patience } from "./patience.ts";
import { createSingleFlight } from "./single-flight.ts";
import { isRateLimited, type Outcome, readAnswer, toBounded, toRpcAnswer, toSetback } from "./upstream-answers.ts";
import { createAttempts } from "./upstream-attempts.ts";
import type { Transport, WireAnswer, WireRequest } from "./upstream-transport.ts";

/** An upstream that says how it is. */
export interface LiveUpstream extends Upstream {
  /** `down` while requests fail at once, without being made. */
  status(): { readonly state: "up" | "down"; readonly reason?: string };
}

export interface UpstreamOptions {
  readonly id: string;
  readonly title: string;
  /** Undefined: nothing is configured. A name and a password in it become a basic authorization header. */
  readonly url: string | undefined;
  /** The environment variable that sets the URL, for people. */
  readonly variable?: string | undefined;
  /** Credentials; a plugin's headers do not replace them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of one attempt: for its head and its body, or between two parts of a stream. */
  readonly timeoutMs: number;
  /** How many attempts more, after the first. */
  readonly retries: number;
  /** Before the first repetition; it grows. */
  readonly pauseMs?: number;
  readonly breaker?: { readonly failures: number; readonly openMs: number };
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

type Question = Omit<WireRequest, "signal">;

const MAX_BYTES = 2 * 1024 * 1024;
const PAUSE_MS = 250;
const BREAKER = { failures: 5, openMs: 15_000 };
/** Some providers refuse who does not say what he is. */
const USER_AGENT = "payphone";

/** One source over a transport, with all that the capability promises. */
export function createUpstream(options: UpstreamOptions): LiveUpstream {
  const { id, title, url, variable, timeoutMs, transport, clock } = options;
  const endpoint = url === undefined ? undefined : toEndpoint(url);
  const attempts = createAttempts({ pauseMs: PAUSE_MS, breaker: BREAKER, ...options });
  const share = createSingleFlight<UpstreamAnswer>();
  const unset =
    variable === undefined ? `No URL of ${title} is configured` : `${title} needs ${variable}, which is not set`;

  return {
    ...{ id, title },
    get: async (path, request) => exchange(toQuestion("GET", path, request), request, toOutcome),
    post: async (path, body, request) => exchange(toQuestion("POST", path, request, body), request, toOutcome),
    async rpc(method, params, request) {
      const question = toQuestion("POST", "", request, { jsonrpc: "2.0", id: 1, method, params });
      return toRpcAnswer(await exchange(question, request, toRpcOutcome), title);
    },
    stream: async (path, request) => open(toQuestion("GET", path, request), request),
    status() {
      if (!endpoint) return { state: "down", reason: unset };
      const refusal = attempts.refusal();
      return refusal ? { state: "down", reason: `${title} ${refusal.reason}` } : { state: "up" };
    },
  };

  function toQuestion(
    method: "GET" | "POST",
    path: string,
    { query, headers }: UpstreamRequest,
    body?: unknown,
  ): Question {
    if (!endpoint) throw new Problem("unavailable", unset);
    const sent = { "user-agent": USER_AGENT, ...(method === "POST" && { "content-type": "application/json" }) };
    return {
      upstream: id,
      method,
      url: toUrl(endpoint.url, path, query),
      headers: toHeaders(sent, headers, endpoint.headers, options.headers),
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
  }

  /** What is asked in the same words at the same time is asked once. */
  function exchange(
    question: Question,
    { signal, maxBytes = MAX_BYTES }: UpstreamRequest,
    judge: (answer: UpstreamAnswer) => Outcome<UpstreamAnswer>,
  ): Promise<UpstreamAnswer> {
    return share(JSON.stringify([question, maxBytes]), signal, (shared) =>
      attempts.make(async () => {
        const patience = createPatience(timeoutMs, shared);
        try {
          return await attempt(question, patience, shared, async (answer) =>
            judge(await readAnswer(answer, title, maxBytes)),
          );
        } finally {
          patience.end();
        }
      }, shared),
    );
  }

  async function open(question: Question, { signal, maxBytes = MAX_BYTES }: UpstreamRequest): Promise<UpstreamStream> {
    signal.throwIfAborted();
    return attempts.make(async () => {
      const patience = createPatience(timeoutMs, signal);
      const outcome = await attempt(question, patience, signal, async ({ status, headers, body }) => {
        patience.renew();
        return { value: { status, headers, body: flow(toBounded(body, title, maxBytes), patience, signal) } };
      });
      if (outcome.setback) patience.end();
      return outcome;
    }, signal);
  }

  /** One request. @throws the signal's reason, and Problems: what a repetition would not change. */
  async function attempt<T>(
    question: Question,
    patience: Patience,
    signal: AbortSignal,
    read: (answer: WireAnswer) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    try {
      const answer = await transport({ ...question, signal: patience.signal });
      const setback = toSetback(answer, clock.now());
      if (!setback) return await read(answer);
      await discard(answer);
      return { setback };
    } catch (cause) {
      signal.throwIfAborted();
      if (cause instanceof Problem) throw cause;
      return { setback: { reason: toReason(patience), isAlive: false, cause } };
    }
  }

  async function* flow(
    body: AsyncIterable<Uint8Array>,
    patience: Patience,
    signal: AbortSignal,
  ): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        yield chunk;
        patience.renew();
      }
    } catch (cause) {
      signal.throwIfAborted();
      throw cause instanceof Problem
        ? cause
        : new Problem("upstream-failed", `${title} ${toReason(patience)}`, { cause });
    } finally {
      patience.end();
    }
  }

  function toRpcOutcome(answer: UpstreamAnswer): Outcome<UpstreamAnswer> {
    if (!isRateLimited(toRpcAnswer(answer, title))) return { value: answer };
    return { setback: { reason: "has been asked too often", isAlive: true } };
  }
}

const toOutcome = (value: UpstreamAnswer): Outcome<UpstreamAnswer> => ({ value });

const toReason = ({ isOver }: Patience): string =>
  isOver() ? "did not answer in time" : "could not be reached, or broke off";

/** @throws RangeError for a path that leads out of the base URL, or has a query of its own. */
function toUrl(base: URL, path: string, query: UpstreamRequest["query"] = {}): URL {
  const url = new URL(base);
  const wanted = path === "" ? url.pathname : `${url.pathname.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;
  url.pathname = wanted;
  if (url.pathname.split("/").length !== wanted.split("/").length || /[?#]/.test(path))
    throw new RangeError("a path below an upstream has no dot segments, no query and no fragment");
  for (const [name, value] of Object.entries(query)) if (value !== undefined) url.searchParams.set(name, value);
  return url;
}

/** The later ones win, however their names are written. */
const toHeaders = (...sets: readonly (Readonly<Record<string, string>> | undefined)[]): Record<string, string> =>
  Object.fromEntries(
    sets.flatMap((set = {}) => Object.entries(set).map(([name, value]) => [name.toLowerCase(), value] as const)),
  );

/** Reads a little of what nobody wants, so that its connection can be used again. */
async function discard({ body }: WireAnswer): Promise<void> {
  let size = 0;
  for await (const chunk of body) {
    size += chunk.byteLength;
    if (size > 64 * 1024) return;
  }
}
