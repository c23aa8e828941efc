import type { Upstream, UpstreamAnswer, UpstreamRequest } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { sha256 } from "../../core/digest.ts";
import { isKeyRefusal } from "../../core/proxy/verdict.ts";
import { createSingleFlight } from "../../core/time/single-flight.ts";
import { toEndpoint } from "../http/endpoint.ts";
import { delay } from "../http/retry.ts";
import { type AttemptOutcome, isRateLimited, RATE_LIMITED, toRpcAnswer } from "./answers.ts";
import { type BytesAnswer, createAttempt } from "./attempt.ts";
import { type AttemptsOptions, createAttempts } from "./attempts.ts";
import { createLeakCheck } from "./leaks.ts";
import { type Pace, type Pause, UNLIMITED } from "./pace.ts";
import { type Address, type PlainRequest, type Question, toPlainQuestion, toQuestion } from "./question.ts";
import type { Transport } from "./transport.ts";

/** An upstream with its state. */
export interface LiveUpstream extends Upstream, Pick<Pace, "waitMs"> {
  /**
   * Sends a request once per call, whatever its method; concurrent equal requests are not shared. All statuses are
   * answers except 408, 425, 429, 403 with `Retry-After`, and 5xx.
   * @throws Problem `unavailable` when the upstream wants a pause; `upstream-failed`; the signal's reason.
   */
  send(request: PlainRequest, terms: SendTerms): Promise<BytesAnswer>;
  /** The query parameters of its URL and its credentials. */
  readonly parameters: readonly string[];
  /** The SHA-256 of its URL, which may contain a credential. */
  readonly urlDigest: string;
  /** Records that the credential was refused with this status, or with undefined that it was accepted. */
  noteRefusal(status: number | undefined): void;
  /** Why the upstream is not asked at present; undefined when it is. */
  outage(): string | undefined;
  /** `down` while requests are refused without being sent. */
  status(): { readonly state: "up" | "down"; readonly reason?: string };
}

/** How a request is sent. */
export interface SendTerms {
  readonly signal: AbortSignal;
  /** Limit of the decompressed body. */
  readonly maxBytes: number;
  /** Whether it may be repeated after a failure that leaves open whether it was received. */
  readonly isRepeatable: boolean;
}

export interface UpstreamOptions extends Omit<AttemptsOptions, "pauseMs" | "pace" | "pause"> {
  /** Undefined when not configured. A name and a password in it become a basic authorization header. */
  readonly url: string | undefined;
  /** The environment variable of the URL, for messages. */
  readonly variable?: string | undefined;
  /** Credentials, which a plugin's headers cannot replace. */
  readonly headers: Readonly<Record<string, string>>;
  /** Credentials in the query. */
  readonly query?: Readonly<Record<string, string>> | undefined;
  /** Credentials within the URL. */
  readonly hidden?: readonly string[] | undefined;
  /** The timeout of one attempt: for a whole answer, or for each chunk of a stream. */
  readonly timeoutMs: number;
  /** The pause before the first repetition; 250 by default. */
  readonly pauseMs?: number;
  /** Unlimited by default. */
  readonly pace?: Pace;
  /** Waits; tests may inject one that takes no time. */
  readonly pause?: Pause;
  readonly transport: Transport;
}

const MAX_BYTES = 2 * 1024 * 1024;
const PAUSE_MS = 250;
/** How long the sale of services that are paid first is paused after a refused credential. */
const REFUSED_MS = 60_000;

/** An upstream over a transport. */
export function createUpstream(options: UpstreamOptions): LiveUpstream {
  const { id, title, variable } = options;
  const address = toAddress(options);
  const repeatsCredential = createLeakCheck(address ?? { headers: {} }, [
    ...Object.values(options.query ?? {}),
    ...(options.hidden ?? []),
  ]);
  const attempt = createAttempt(options);
  const { pace = UNLIMITED, pause = delay, clock, log } = options;
  const attempts = createAttempts({
    pauseMs: PAUSE_MS,
    ...options,
    pause,
    pace,
  });
  const share = createSingleFlight<UpstreamAnswer>();
  let refused: { readonly status: number; readonly at: number } | undefined;
  const unset = variable ? `${title} needs ${variable}, which is not set` : `No URL of ${title} is configured`;

  return {
    id,
    title,
    parameters: [...(address?.url.searchParams.keys() ?? [])],
    urlDigest: sha256(options.url ?? ""),
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
    async send(request, { signal, maxBytes, isRepeatable }) {
      if (!address) throw new Problem("unavailable", unset);
      const retries = isRepeatable ? options.retries : 0;
      const question = { ...toPlainQuestion(address, request), isSentOnce: retries === 0 };
      signal.throwIfAborted();
      const ask = (): Promise<AttemptOutcome<BytesAnswer>> => attempt.bytes(question, maxBytes, signal);
      const answer = await attempts.make(ask, { signal, retries, busy: "unavailable" });
      // An answer that refuses the credential may repeat it: callers never quote such an answer.
      if (isKeyRefusal(answer.status) || !repeatsCredential(answer.body)) return answer;
      log.error("upstream.repeats-credential", { upstream: id, status: answer.status });
      throw new Problem("upstream-failed", `${title}'s answer contains a secret and is withheld`);
    },
    noteRefusal(status) {
      if (status !== undefined) log.error("upstream.refused", { upstream: id, status });
      refused = status === undefined ? undefined : { status, at: clock.now() };
    },
    waitMs: pace.waitMs,
    outage: () => toOutage() ?? (refused && blocks(refused) ? toRefused(refused) : undefined),
    status() {
      const reason = toOutage() ?? (refused && toRefused(refused));
      return reason === undefined ? { state: "up" } : { state: "down", reason };
    },
  };

  function toOutage(): string | undefined {
    if (!address) return unset;
    const refusal = attempts.refusal();
    return refusal && `${title} ${refusal.reason}`;
  }

  /** Whether a refused credential stops the sale. A 403 may concern only one request. */
  function blocks({ status, at }: { readonly status: number; readonly at: number }): boolean {
    return status !== 403 && Math.abs(clock.now() - at) < REFUSED_MS;
  }

  function toRefused({ status }: { readonly status: number }): string {
    return `${title} refuses the credential that it is sent (status ${status})`;
  }

  function ask(what: { readonly path: string; readonly body?: unknown }, request: UpstreamRequest): Question {
    if (!address) throw new Problem("unavailable", unset);
    return toQuestion(address, what, request);
  }

  /** Concurrent equal requests share one exchange. */
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

/** Decides what an answer counts as. */
type Judge = (outcome: AttemptOutcome<UpstreamAnswer>) => AttemptOutcome<UpstreamAnswer>;

const judgeBy =
  ({ isPassing }: UpstreamRequest): Judge =>
  (outcome) =>
    outcome.value && isPassing?.(outcome.value) ? { setback: RATE_LIMITED } : outcome;

/** @throws RangeError when the URL is invalid. */
function toAddress({ id, url: text, headers, query = {} }: UpstreamOptions): Address | undefined {
  if (text === undefined) return undefined;
  const { url, headers: basic } = toEndpoint(text);
  for (const [name, value] of Object.entries(query)) url.searchParams.set(name, value);
  return { id, url, headers: { ...basic, ...headers } };
}
