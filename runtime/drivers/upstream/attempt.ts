import type { Clock, UpstreamAnswer, UpstreamStream } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toBounded } from "../http/bounded-body.ts";
import { createPatience, type Patience } from "../http/idle-timeout.ts";
import { type Outcome, readAnswer, type Setback, toSetback } from "./answers.ts";
import type { Question } from "./question.ts";
import type { Transport, WireAnswer } from "./transport.ts";

/**
 * One attempt at a question, bounded in time and size. What may pass is a setback; thrown is what a repetition would not
 * change: the signal's reason, and Problems.
 */
export interface Attempt {
  /** An answer with its whole body. */
  whole(question: Question, maxBytes: number, signal: AbortSignal): Promise<Outcome<UpstreamAnswer>>;
  /** An answer as soon as its head is there. From then on it may take its time, as long as it goes on. */
  stream(question: Question, maxBytes: number, signal: AbortSignal): Promise<Outcome<UpstreamStream>>;
}

export interface AttemptOptions {
  readonly title: string;
  readonly timeoutMs: number;
  readonly transport: Transport;
  readonly clock: Clock;
}

/** How much of a failure's body is read, so that its connection can be used again. */
const DISCARDED_BYTES = 64 * 1024;

/** @param options.timeoutMs for the whole of an answer; of a stream, for its first part and for each silence after it. */
export function createAttempt({ title, timeoutMs, transport, clock }: AttemptOptions): Attempt {
  return {
    whole: (question, maxBytes, signal) =>
      ask(question, createPatience(timeoutMs, signal), async (answer, patience) => {
        const value = await readAnswer(answer, title, maxBytes);
        patience.end();
        return { value };
      }),
    stream: (question, maxBytes, signal) =>
      ask(question, createPatience(timeoutMs, signal), async ({ status, headers, body }, patience) => ({
        value: { status, headers, body: flow(toBounded(body, title, maxBytes), patience) },
      })),
  };

  /** @param take is handed the patience with the answer; without an answer it ends here. */
  async function ask<T>(
    question: Question,
    patience: Patience,
    take: (answer: WireAnswer, patience: Patience) => Promise<Outcome<T>>,
  ): Promise<Outcome<T>> {
    try {
      const answer = await transport({ ...question, signal: patience.signal });
      const setback = toSetback(answer, clock.now());
      if (!setback) return await take(answer, patience);
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
}

/** What has ended an attempt before its answer was there. */
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
