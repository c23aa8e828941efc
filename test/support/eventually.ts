import { setTimeout as sleep } from "node:timers/promises";

const PATIENCE_MS = 20_000;

/** Waits until a condition holds. @throws Error that names the condition. */
export async function eventually(holds: () => boolean | Promise<boolean>, everyMs = 10): Promise<void> {
  const givenUp = performance.now() + PATIENCE_MS;
  while (!(await holds())) {
    if (performance.now() > givenUp) throw new Error(`it never came about: ${holds}`);
    await sleep(everyMs);
  }
}
