import type { Response } from "express";
import { Problem } from "../../api/problem.ts";

/** Makes room for an answer, and counts it until its client has read it or is gone. @param bytes of its body */
export type HoldAnswer = (response: Response, client: string, bytes: number) => void;

/** An answer that its client has not read to the end. */
interface Held {
  readonly response: Response;
  readonly client: string;
  readonly bytes: number;
}

/** How many bytes may wait at most: those of 64 of the largest files. */
export const MOST_UNREAD = 536_870_912;
/** The system takes smaller answers at once. */
const LEAST_BYTES = 65_536;

/**
 * Bounds the memory of answers that nobody reads: the client address that has most of it loses its oldest connections. What
 * it has bought can be fetched again. @param fail logs each cut
 */
export function createHeldAnswers(mostBytes: number, fail: (response: Response, problem: Problem) => void): HoldAnswer {
  const held = new Set<Held>();
  let total = 0;

  return (response, client, bytes) => {
    if (bytes < LEAST_BYTES || response.closed) return;
    while (held.size > 0 && total + bytes > mostBytes) cut(findOldest(held));
    const one = { response, client, bytes };
    held.add(one);
    total += bytes;
    response.once("close", () => release(one));
  };

  function release(one: Held): void {
    if (held.delete(one)) total -= one.bytes;
  }

  function cut(one: Held): void {
    release(one);
    fail(one.response, new Problem("unavailable", "The answer was not read, and its memory was needed"));
    one.response.destroy();
  }
}

/** The oldest answer of the client that holds most. */
function findOldest(held: ReadonlySet<Held>): Held {
  const sums = new Map<string, number>();
  for (const { client, bytes } of held) sums.set(client, (sums.get(client) ?? 0) + bytes);
  const most = Math.max(...sums.values());
  return [...held].find(({ client }) => sums.get(client) === most) as Held;
}
