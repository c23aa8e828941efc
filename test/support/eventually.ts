import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 100_000; // Less than mocha's, which could not say what was waited for.

/**
 * Asks again and again until the answer is as wanted, and returns it. Without `isWanted` any true value is.
 * @throws Error that says what was waited for in vain.
 */
export async function eventually<T>(
  ask: () => T | Promise<T>,
  isWanted: (answer: T) => boolean | Promise<boolean> = Boolean,
  everyMs = 10,
): Promise<T> {
  const givenUpAt = performance.now() + PATIENCE_MS;
  for (;;) {
    const answer = await ask();
    if (await isWanted(answer)) return answer;
    if (performance.now() > givenUpAt) throw new Error(`it never came about: ${ask}, ${isWanted}`);
    await sleep(everyMs);
  }
}
