import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 100_000; // Less than mocha's timeout, whose error could not say what was awaited.

/** Questions may cost a server's work: after a while they are asked less often. */
const LONGEST_PAUSE_MS = 200;

/**
 * Repeats a question until the answer is as wanted, and returns the answer. Without `isWanted`, any truthy value is
 * wanted.
 * @throws Error that says what was awaited in vain.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean | Promise<boolean> = Boolean,
  everyMs = 10,
): Promise<T> {
  const beganAt = performance.now();
  for (;;) {
    const answer = await ask();
    if (await isWanted(answer)) return answer;
    const waitedMs = performance.now() - beganAt;
    if (waitedMs > PATIENCE_MS) throw new Error(`it never came about: ${ask}, ${isWanted}`);
    await sleep(Math.max(everyMs, Math.min(waitedMs / 10, LONGEST_PAUSE_MS)));
  }
}
