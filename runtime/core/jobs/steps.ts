import type { Log } from "../../api/capabilities.ts";
import type { Call } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import { within } from "../deadline.ts";
import type { JobRecords } from "./records.ts";

/** The steps of one attempt at a job. */
export interface Steps {
  /** What the handler is lent. */
  readonly lent: Pick<Call, "step" | "report">;
  /**
   * Lets no further step begin and waits for those that have begun, so that what they did is known to the next attempt.
   * @throws Problem `unavailable` when the store could not give or keep a step, whatever the handler made of that.
   */
  end(): Promise<void>;
}

export interface StepsDeps {
  readonly records: Pick<JobRecords, "note" | "readStep" | "keepStep">;
  readonly log: Log;
  /** How long a step that has begun may go on after its attempt. */
  readonly graceMs: number;
}

export function createSteps(id: string, { records, log, graceMs }: StepsDeps): Steps {
  const running = new Set<Promise<unknown>>();
  let isOver = false;
  /** Whether the handler reported something in this turn of the event loop. */
  let hasReported = false;
  let outage: Problem | undefined;

  return {
    lent: {
      report(progress) {
        hasReported = true;
        setImmediate(() => {
          hasReported = false;
        });
        note(progress);
      },
      step(name, work) {
        const step = take(name, work, hasReported);
        const forget = (): void => void running.delete(step);
        running.add(step);
        step.then(forget, forget);
        return step;
      },
    },
    async end() {
      isOver = true;
      const ended = Promise.allSettled(running);
      await within(graceMs, ended, () => new Error("steps outlive their attempt")).catch(() => {}); // They end unobserved.
      if (outage) throw outage;
    },
  };

  function note(progress: string): void {
    if (isOver) return;
    records.note(id, progress).catch((error: unknown) => log.warn("job.progress-lost", { job: id, error }));
  }

  /** @param isReported whether a report directly before the step is shown instead of its name. */
  async function take<T>(name: string, work: () => Promise<T>, isReported: boolean): Promise<T> {
    const kept = await records.readStep(id, name).catch(remember);
    if (kept) return kept.value as T; // As the same step gave it before.
    if (isOver) throw new Problem("unavailable", "This attempt is over");
    if (!isReported) note(name);
    const value = toJson(await work());
    return (await records.keepStep(id, name, value).catch(remember)) as T;
  }

  function remember(error: unknown): never {
    if (error instanceof Problem && error.code === "unavailable") outage = error;
    throw error;
  }
}

/** What a step gives is what it would be after a crash: the same for the first attempt and for the next. */
const toJson = (value: unknown): unknown => (JSON.parse(JSON.stringify({ value })) as { value?: unknown }).value;
