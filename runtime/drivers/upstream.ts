import type { Clock, Log, Upstream, UpstreamAnswer, UpstreamRequest, UpstreamStream } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { toEndpoint } from "./chain-call.ts";
import { createPatience, type Patience } from "./patience.ts";
import { createSingleFlight } from "./single-flight.ts";
import {
  isRateLimited,
  type Outcome,
  RATE_LIMITED,
  readAnswer,
  type Setback,
  toBounded,
  toRpcAnswer,
  toSetback,
} from "./upstream-answers.ts";
import { createAttempts } from "./upstream-attempts.ts";
import { type Question, toQuestion } from "./upstream-question.ts";
import type { Transport, WireAnswer } from "./upstream-transport.ts";

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
  /** Before the first repetition; 250 unless said otherwise, and growing. */
  readonly pauseMs?: number;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_BYTES = 2 * 1024 * 1024;
const PAUSE_MS = 250;
/** How much of a failure's body is read, so that its connection can be used again. */
const DISCARDED_BYTES = 64 * 1024;

/** One source over a transport, with all that the capability promises. */
export function createUpstream(options: UpstreamOptions): LiveUpstream {
  const { id, title, url, variable, timeoutMs, transport, clock } = options;
  const address = url === undefined ? undefined : toAddress(options, url);
  const attempts = createAttempts({ pauseMs: PAUSE_MS, ...options });
  const share = createSingleFlight<UpstreamAnswer>();
  const unset = variable ? `${title} needs ${variable}, which is not set` : `No URL of ${title} is configured`;

  return {
    ...{ id, title },
    get: async (path, request) => exchange(ask({ path }, request), request),
    post: async (path, body, request) => exchange(ask({ path, body }, request), request),
    async rpc(method, params, request) {
      const body = { jsonrpc: "2.0", id: 1, method, params };
      return toRpcAnswer(await exchange(ask({ path: "", body }, request), request, toRpcOutcome), title);
    },
    stream: async (path, request) => open(ask({ path }, request), request),
    status() {
      if (!address) return { state: "down", reason: unset };
      const refusal = attempts.refusal();
      return refusal ? { state: "down", reason: `${title} ${refusal.reason}` } : { state: "up" };
    },
  };

  function ask(what: Parameters<typeof toQuestion>[1], request: UpstreamRequest): Question {
    if (!address) throw new Problem("unavailable", unset);
    return toQuestion(address, what, request);
  }

  /** What is asked in the same words at the same time is asked once. */
  function exchange(
    question: Question,
    { signal, maxBytes = MAX_BYTES }: UpstreamRequest,
    judge: (answer: UpstreamAnswer) => Outcome<UpstreamAnswer> = (value) => ({ value }),
  ): Promise<UpstreamAnswer> {
    const attempt = (patience: Patience): Promise<Outcome<UpstreamAnswer>> =>
      attemptOnce(question, patience, async (answer) => {
        const whole = await readAnswer(answer, title, maxBytes);
        patience.end();
        return judge(whole);
      });
    return share(JSON.stringify([question, maxBytes]), signal, (shared) =>
      attempts.make(() => attempt(createPatience(timeoutMs, shared)), shared),
    );
  }

  async function open(question: Question, { signal, maxBytes = MAX_BYTES }: UpstreamRequest): Promise<UpstreamStream> {
    signal.throwIfAborted();
    const attempt = (patience: Patience): Promise<Outcome<UpstreamStream>> =>
      attemptOnce(question, patience, async ({ status, headers, body }) => {
        patience.renew();
        return { value: { status, headers, body: flow(toBounded(body, title, maxBytes), patience) } };
      });
    return attempts.make(() => attempt(createPatience(timeoutMs, signal)), signal);
  }

  /** @param read is left the patience, which it must end; otherwise it is over when this has returned. */
  async function attemptOnce<T>(
    question: Question,
    patience: Patience,
    read: (answer: WireAnswer) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    try {
      const answer = await transport({ ...question, signal: patience.signal });
      const setback = toSetback(answer, clock.now());
      if (!setback) return await read(answer);
      await discard(answer);
      patience.end();
      return { setback };
    } catch (cause) {
      patience.end();
      return { setback: toBreak(patience, cause) };
    }
  }

  async function* flow(body: AsyncIterable<Uint8Array>, patience: Patience): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        yield chunk;
        patience.renew();
      }
    } catch (cause) {
      throw new Problem("upstream-failed", `${title} ${toBreak(patience, cause).reason}`, { cause });
    } finally {
      patience.end();
    }
  }

  function toRpcOutcome(answer: UpstreamAnswer): Outcome<UpstreamAnswer> {
    return isRateLimited(toRpcAnswer(answer, title)) ? { setback: RATE_LIMITED } : { value: answer };
  }
}

/** @throws RangeError when the URL is none. */
function toAddress({ id, headers }: UpstreamOptions, text: string): Parameters<typeof toQuestion>[0] {
  const { url, headers: basic } = toEndpoint(text);
  return { id, url, headers: { ...basic, ...headers } };
}

/** What has ended a request. @throws what a repetition would not change: the caller's reason, and Problems. */
function toBreak({ signal, isOver }: Patience, cause: unknown): Setback {
  if (isOver()) return { reason: "did not answer in time", isAlive: false, cause };
  signal.throwIfAborted();
  if (cause instanceof Problem) throw cause;
  return { reason: "could not be reached, or broke off", isAlive: false, cause };
}

async function discard({ body }: WireAnswer): Promise<void> {
  let size = 0;
  try {
    for await (const chunk of body) {
      size += chunk.byteLength;
      if (size > DISCARDED_BYTES) return;
    }
  } catch {
    // The status is known, and nobody wants the rest.
  }
}
