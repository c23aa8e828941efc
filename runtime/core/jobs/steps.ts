import type { Log } from "../../api/capabilities.ts";
import type { Call } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import { within } from "../time/deadline.ts";
import type { JobRecords } from "./records.ts";

/** The steps of one attempt at a job. */
export interface Steps {
  /** The part of `Call` that the handler gets. */
  readonly lent: Pick<Call, "step" | "report">;
  /**
   * Lets no further step begin and waits for the running ones, so that their results are stored for the next attempt.
   * @throws Problem `unavailable` when the store failed during a step, even if the handler has caught that error.
   */
  end(): Promise<void>;
}

export interface StepsDeps {
  readonly records: Pick<JobRecords, "note" | "readStep" | "keepStep">;
  readonly log: Log;
  /** How long a running step may go on after its attempt. */
  readonly graceMs: number;
}

export function createSteps(id: string, { records, log, graceMs }: StepsDeps): Steps {
  const running = new Set<Promise<unknown>>();
  /** The names of this attempt's steps that run or have succeeded. */
  const names = new Set<string>();
  let isOver = false;
  /** Whether the handler has called `report` in this turn of the event loop. */
  let hasReported = false;
  let outage: Problem | undefined;

  return {
    lent: {
      report(progress) {
        hasReported = true;
        setImmediate(() => {
          hasReported = false;
        });
        note(toText(progress));
      },
      step(given, work) {
        const name = toText(given);
        // The second one would get the result of the first.
        if (names.has(name)) return Promise.reject(new Error(`two steps have the name "${name}"`));
        names.add(name);
        const step = take(name, work, hasReported);
        step.catch(() => names.delete(name));
        const forget = (): void => void running.delete(step);
        running.add(step);
        step.then(forget, forget);
        return step;
      },
    },
    async end() {
      isOver = true;
      const ended = Promise.allSettled(running);
      await within(graceMs, ended, () => new Error("steps outlive their attempt")).catch(() => {}); // They run on.
      if (outage) throw outage;
    },
  };

  function note(progress: string): void {
    if (isOver) return;
    records.note(id, progress).catch((error: unknown) => log.warn("job.progress-lost", { job: id, error }));
  }

  /** @param isReported whether the status shows a report made directly before instead of the step's name */
  async function take<T>(name: string, work: () => Promise<T>, isReported: boolean): Promise<T> {
    const kept = await records.readStep(id, name).catch(remember);
    if (kept) return kept.value as T; // Returned by the same step before.
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

/** Plugins without types may give anything, and no key of the store has a lone surrogate. */
const toText = (text: string): string => String(text).toWellFormed();

/** The value as it would be read from the store, so that all attempts get the same one. */
const toJson = (value: unknown): unknown => (JSON.parse(JSON.stringify({ value })) as { value?: unknown }).value;
