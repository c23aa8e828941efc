import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";

/** What a promise is rejected with; otherwise its value. */
export const thrown = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

/** The problem that a promise is rejected with. @throws AssertionError where there is none. */
export async function problemOf(work: Promise<unknown>): Promise<Problem> {
  const found = await thrown(work);
  return found instanceof Problem ? found : expect.fail(`not a Problem: ${String(found)}`);
}
