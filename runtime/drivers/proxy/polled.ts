import type { Call, Clock } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import type { JsonObject } from "../../core/json.ts";
import { readBody } from "../../core/proxy/answer.ts";
import { type Condition, holds, readCondition } from "../../core/proxy/condition.ts";
import { messageIn } from "../../core/proxy/message.ts";
import { type RequestPlan, toRequestPlan } from "../../core/proxy/plan.ts";
import { valueAt } from "../../core/proxy/pointer.ts";
import { type ProxyRequest, toRequest } from "../../core/proxy/request.ts";
import type { PollManifest } from "../../core/set/manifest.ts";
import { delay } from "../http/retry.ts";
import { toRetryAfterMs } from "../http/retry-after.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import { type Ask, keyed } from "./ask.ts";

export interface PolledOptions {
  readonly poll: PollManifest;
  readonly plan: RequestPlan;
  /** Places the order and polls its state. */
  readonly ask: Ask;
  readonly fetchResult: Ask;
  readonly title: string;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly clock: Clock;
}

/** Places an order with an upstream and waits until it is done. Returns the answer with the result. */
export type Poll = (input: JsonObject, call: Call) => Promise<BytesAnswer>;

const PAUSE_SECONDS = 2;
const LONGEST_PAUSE_MS = 600_000;
/** How long an upstream may take to know an order that it has accepted. */
const UNKNOWN_MS = 30_000;

/**
 * Places one order per job, also after a crash. Failed polls, and those with a page or another answer that cannot be read,
 * are repeated until the job's deadline; those that say that there is no such order, only until it is known, and not for long.
 */
export function createPoll(options: PolledOptions): Poll {
  const { poll, plan, ask, fetchResult, title, headers, clock } = options;
  const line = (text: string): RequestPlan => toRequestPlan(text, { ...(headers && { headers }) });
  const question = line(poll.request);
  const result = poll.result === undefined ? undefined : line(poll.result);
  const [done, failed] = [poll.done, poll.failed].map(toCondition);
  const pauseMs = (poll.seconds ?? PAUSE_SECONDS) * 1000;

  return async (input, { id, signal, step, report }) => {
    const request = keyed(toRequest(plan, { input }), id);
    const order = await step("order", async () => readJson(await ask(request, signal)) ?? null);
    report(`waiting for ${title}`);
    const scope = { input, order };
    const asked = toRequest(question, scope);
    const knownBy = clock.now() + UNKNOWN_MS;
    for (let isKnown = false; ; ) {
      const { answer, waitMs } = await look(asked, signal, !isKnown && clock.now() < knownBy);
      isKnown ||= answer !== undefined;
      const seen = answer && { status: answer.status, body: readJson(answer) };
      if (seen && failed && holds(failed, seen)) throw toFailed(seen.body);
      if (answer && seen && done && holds(done, seen))
        return result ? fetchResult(toRequest(result, scope), signal) : answer;
      await delay(Math.min(waitMs || pauseMs, LONGEST_PAUSE_MS), signal); // Also for a `Retry-After: 0`.
    }
  };

  /** One poll; without an answer when it failed and may be repeated. */
  async function look(
    asked: ProxyRequest,
    signal: AbortSignal,
    mayBeUnknown: boolean,
  ): Promise<{ answer?: BytesAnswer; waitMs?: number | undefined }> {
    try {
      const answer = await ask(asked, signal);
      return { answer, waitMs: toRetryAfterMs(answer.headers.get("retry-after"), clock.now()) };
    } catch (error) {
      signal.throwIfAborted();
      const { code, options: terms } = Problem.from(error);
      const isUnknown = mayBeUnknown && code === "not-found";
      if (code !== "upstream-failed" && code !== "unavailable" && !isUnknown) throw error;
      return { waitMs: terms.retryAfter === undefined ? undefined : terms.retryAfter * 1000 };
    }
  }

  /** The Problem of a failed order, which no further attempt changes. */
  function toFailed(body: unknown): Problem {
    const reason = poll.error === undefined ? undefined : messageIn(valueAt(body, poll.error));
    return new Problem("unparseable-input", reason ? `${title} failed: ${reason}` : `${title} failed`);
  }
}

const readJson = ({ headers, body }: BytesAnswer): unknown => readBody(headers.get("content-type"), body);

/** Reads a condition of a checked set, which has no faults. */
function toCondition(text: string | undefined): Condition | undefined {
  const condition = text === undefined ? undefined : readCondition(text);
  return typeof condition === "string" ? undefined : condition;
}
