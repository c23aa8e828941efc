import { unlessDamaged } from "../damage.ts";
import { isObject } from "../json.ts";
import { JOB_KEEP_MS } from "../refunds/records.ts";
import type { Store } from "../store.ts";
import type { FailedJob } from "./jobs.ts";

/** The jobs that have failed for good, for the seller. */
export interface JobFailures {
  /** Lists a job; idempotent. @throws Problem `unavailable`. */
  note(job: FailedJob): Promise<void>;
  /** The newest jobs of the last 90 days, at most `most`. @throws Problem `unavailable`. */
  list(most: number): Promise<readonly FailedJob[]>;
}

const COUNT = "jobs-failed";
const keyOf = (number: number | ""): string => `job-failed:${number}`;

export function createJobFailures(store: Pick<Store, "get" | "set" | "putIfAbsent" | "incr" | "keys">): JobFailures {
  /** Raises the number of the last listed job by `by`, and returns it. A damaged counter is restored from the list. */
  const count = (by: number): Promise<number> =>
    store.incr(COUNT, by).catch(async (error: unknown) => {
      if (!(error instanceof TypeError)) throw error;
      let last = 0;
      for await (const key of store.keys(keyOf(""))) last = Math.max(last, Number(key.slice(keyOf("").length)) || 0);
      await store.set(COUNT, last + by);
      return last + by;
    });

  return {
    async note(job) {
      if (await store.get(listedKey(job)).catch(unlessDamaged)) return;
      while (!(await store.putIfAbsent(keyOf(await count(1)), job, JOB_KEEP_MS))); // Two processes may restore the counter at once.
      await store.putIfAbsent(listedKey(job), true, JOB_KEEP_MS, "lazy");
    },
    async list(most) {
      const last = await count(0);
      const numbers = Array.from({ length: Math.min(last, 2 * most) }, (_, back) => last - back);
      const found = await Promise.all(
        numbers.map((number) => store.get<FailedJob>(keyOf(number)).catch(unlessDamaged)),
      );
      // A crash between both writes lists a job twice.
      const jobs = new Map(found.flatMap((job) => (isFailedJob(job) ? [[job.id, job] as const] : [])));
      return [...jobs.values()].sort((one, other) => other.at - one.at).slice(0, most);
    },
  };
}

const isFailedJob = (record: unknown): record is FailedJob =>
  isObject(record) &&
  typeof record.at === "number" &&
  [record.id, record.service, record.error].every((text) => typeof text === "string");

const listedKey = ({ id }: FailedJob): string => `job-failed-listed:${id}`;
