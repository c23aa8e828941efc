import type { Clock, Log, Upstream, UpstreamAnswer, UpstreamRequest } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { delay } from "../http/retry.ts";
import { type AttemptOutcome, isRateLimited, RATE_LIMITED, toRpcAnswer } from "./answers.ts";
import { createAttempt } from "./attempt.ts";
import { createAttempts } from "./attempts.ts";
import { createPace, type Pause, type Rate } from "./pace.ts";
import { type Address, type Question, toQuestion } from "./question.ts";
import { createSingleFlight } from "./single-flight.ts";
import type { Transport } from "./transport.ts";

/** An upstream with its state. */
export interface LiveUpstream extends Upstream {
  /** `down` while requests are refused without being sent. */
  status(): { readonly state: "up" | "down"; readonly reason?: string };
}

export interface UpstreamOptions {
  readonly id: string;
  readonly title: string;
  /** Undefined when none is configured. A name and a password in it become a basic authorization header. */
  readonly url: string | undefined;
  /** The environment variable that sets the URL, for messages. */
  readonly variable?: string | undefined;
  /** Credentials; a plugin's headers do not replace them. */
  readonly headers: Readonly<Record<string, string>>;
  /** Bounds one attempt: a whole answer, or the first and each further part of a stream. */
  readonly timeoutMs: number;
  /** How many further attempts after the first. */
  readonly retries: number;
  /** The pause before the first repetition; 250 unless given. */
  readonly pauseMs?: number;
  /** Requests above it wait; unlimited unless given. */
  readonly rate?: Rate | undefined;
  /** How time is waited for; a test's may take none. */
  readonly pause?: Pause;
  readonly transport: Transport;
  readonly clock: Clock;
  readonly log: Log;
}

const MAX_BYTES = 2 * 1024 * 1024;
const PAUSE_MS = 250;

/** An upstream over a transport. */
export function createUpstream(options: UpstreamOptions): LiveUpstream {
  const { id, title, variable } = options;
  const address = toAddress(options);
  const attempt = createAttempt(options);
  const { rate, pause = delay, clock } = options;
  const attempts = createAttempts({
    pauseMs: PAUSE_MS,
    ...options,
    pause,
    pace: createPace({ rate, clock, pause }),
  });
  const share = createSingleFlight<UpstreamAnswer>();
  const unset = variable ? `${title} needs ${variable}, which is not set` : `No URL of ${title} is configured`;

  return {
    id,
    title,
    get: async (path, request) => exchange(ask({ path }, request), request, judgeBy(request)),
    post: async (path, body, request) => exchange(ask({ path, body }, request), request, judgeBy(request)),
    async rpc(method, params, request) {
      const body = { jsonrpc: "2.0", id: 1, method, params };
      return toRpcAnswer(await exchange(ask({ path: "", body }, request), request, judgeRpc), title);
    },
    async stream(path, request) {
      const { signal, maxBytes = MAX_BYTES, patientUntil } = request;
      const question = ask({ path }, request);
      signal.throwIfAborted();
      return attempts.make(() => attempt.stream(question, maxBytes, signal), { signal, patientUntil });
    },
    status() {
      if (!address) return { state: "down", reason: unset };
      const refusal = attempts.refusal();
      return refusal ? { state: "down", reason: `${title} ${refusal.reason}` } : { state: "up" };
    },
  };

  function ask(what: { readonly path: string; readonly body?: unknown }, request: UpstreamRequest): Question {
    if (!address) throw new Problem("unavailable", unset);
    return toQuestion(address, what, request);
  }

  /** Equal questions at the same time share one request. */
  function exchange(
    question: Question,
    { signal, maxBytes = MAX_BYTES, patientUntil, isPassing }: UpstreamRequest,
    judge: Judge,
  ): Promise<UpstreamAnswer> {
    const attemptIt = (shared: AbortSignal) => async () => judge(await attempt.whole(question, maxBytes, shared));
    return share(JSON.stringify([question, maxBytes, patientUntil, isPassing?.name]), signal, (shared) =>
      attempts.make(attemptIt(shared), { signal: shared, patientUntil }),
    );
  }

  function judgeRpc(outcome: AttemptOutcome<UpstreamAnswer>): AttemptOutcome<UpstreamAnswer> {
    const { value } = outcome;
    return value && isRateLimited(toRpcAnswer(value, title)) ? { setback: RATE_LIMITED } : outcome;
  }
}

/** What an answer counts as. */
type Judge = (outcome: AttemptOutcome<UpstreamAnswer>) => AttemptOutcome<UpstreamAnswer>;

const judgeBy =
  ({ isPassing }: UpstreamRequest): Judge =>
  (outcome) =>
    outcome.value && isPassing?.(outcome.value) ? { setback: RATE_LIMITED } : outcome;

/** @throws RangeError when the URL is none. */
function toAddress({ id, url: text, headers }: UpstreamOptions): Address | undefined {
  if (text === undefined) return undefined;
  const { url, headers: basic } = toEndpoint(text);
  return { id, url, headers: { ...basic, ...headers } };
}
