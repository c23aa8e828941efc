import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 15_000;

/** Waits until something holds that comes about in its own time. @throws Error that says what was waited for in vain. */
export async function eventually(holds: () => boolean | Promise<boolean>, what = String(holds)): Promise<void> {
  const givenUp = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > givenUp) throw new Error(`it never came about: ${what}`);
    await sleep(10);
  }
}
