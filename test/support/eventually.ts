import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 20_000;

/** Waits until something holds that comes about in its own time. @throws Error that says what was waited for in vain. */
export async function eventually(holds: () => boolean | Promise<boolean>, everyMs = 10): Promise<void> {
  const givenUp = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > givenUp) throw new Error(`it never came about: ${holds}`);
    await sleep(everyMs);
  }
}
