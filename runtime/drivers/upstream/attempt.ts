import type { Clock, UpstreamAnswer, UpstreamStream } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { readBounded, toBounded } from "../http/bounded-body.ts";
import { createIdleTimeout, type IdleTimeout } from "../http/idle-timeout.ts";
import { type AttemptOutcome, readAnswer, type Setback, toSetback } from "./answers.ts";
import type { Question } from "./question.ts";
import type { Transport, WireAnswer } from "./transport.ts";

/**
 * One attempt at a request, bounded in time and size. A transient failure is returned as a setback; other failures are
 * thrown: a Problem, or the signal's reason.
 */
export interface Attempt {
  /** The answer with its whole body as text. */
  whole(question: Question, maxBytes: number, signal: AbortSignal): Promise<AttemptOutcome<UpstreamAnswer>>;
  /** The answer with its whole body as bytes. */
  bytes(question: Question, maxBytes: number, signal: AbortSignal): Promise<AttemptOutcome<BytesAnswer>>;
  /** The answer after its headers; each further chunk of the body must arrive within the timeout. */
  stream(question: Question, maxBytes: number, signal: AbortSignal): Promise<AttemptOutcome<UpstreamStream>>;
}

/** An answer whose body is bytes. */
export interface BytesAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: Buffer;
}

export interface AttemptOptions {
  readonly title: string;
  readonly timeoutMs: number;
  readonly transport: Transport;
  readonly clock: Clock;
}

/** How many bytes of an error answer are read, so that the connection can be reused. */
const DISCARDED_BYTES = 64 * 1024;
/** A caller whose deadline is as long as the timeout gives up just before: for the upstream this is the same. */
const ALMOST = 0.9;

/** @param options.timeoutMs for a whole answer; for a stream, for the headers and for each pause between chunks */
export function createAttempt({ title, timeoutMs, transport, clock }: AttemptOptions): Attempt {
  return {
    whole: (question, maxBytes, signal) =>
      ask(question, createIdleTimeout(timeoutMs, signal), async (answer, timeout) => {
        const value = await readAnswer(answer, title, maxBytes);
        timeout.end();
        return { value };
      }),
    bytes: (question, maxBytes, signal) =>
      ask(question, createIdleTimeout(timeoutMs, signal), async ({ status, headers, body }, timeout) => {
        const value = { status, headers, body: await readBounded(body, title, maxBytes) };
        timeout.end();
        return { value };
      }),
    stream: (question, maxBytes, signal) =>
      ask(question, createIdleTimeout(timeoutMs, signal), async ({ status, headers, body }, timeout) => ({
        value: { status, headers, body: flow(toBounded(body, title, maxBytes), timeout) },
      })),
  };

  /** @param take reads the answer and ends the timeout; when it is not called, the timeout is ended here */
  async function ask<T>(
    question: Question,
    timeout: IdleTimeout,
    take: (answer: WireAnswer, timeout: IdleTimeout) => Promise<AttemptOutcome<T>>,
  ): Promise<AttemptOutcome<T>> {
    const begun = clock.now();
    try {
      const answer = await transport({ ...question, signal: timeout.signal });
      const setback = toSetback(answer, clock.now());
      if (!setback) return await take(answer, timeout);
      await discard(answer);
      timeout.end();
      return { setback };
    } catch (cause) {
      timeout.end();
      const isLate = timeout.signal.aborted && clock.now() - begun >= ALMOST * timeoutMs;
      return { setback: isLate ? toLate(cause) : toBreak(timeout, cause) };
    }
  }

  async function* flow(body: AsyncIterable<Uint8Array>, timeout: IdleTimeout): AsyncGenerator<Uint8Array> {
    try {
      for await (const chunk of body) {
        yield chunk;
        timeout.renew();
      }
    } catch (cause) {
      throw new Problem("upstream-failed", `${title} ${toBreak(timeout, cause).reason}`, { cause });
    } finally {
      timeout.end();
    }
  }
}

const toLate = (cause: unknown): Setback => ({ reason: "did not answer in time", isAlive: false, cause });

/** Why an attempt ended without an answer. */
function toBreak({ signal, hasElapsed }: IdleTimeout, cause: unknown): Setback {
  if (hasElapsed()) return toLate(cause);
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
    // Only the status is needed.
  }
}
