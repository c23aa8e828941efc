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
const keyOf = (number: number): string => `job-failed:${number}`;

export function createJobFailures(store: Pick<Store, "get" | "set" | "putIfAbsent" | "incr">): JobFailures {
  return {
    async note(job) {
      if (await store.get(listedKey(job))) return;
      await store.set(keyOf(await store.incr(COUNT)), job, JOB_KEEP_MS);
      await store.putIfAbsent(listedKey(job), true, JOB_KEEP_MS, "lazy");
    },
    async list(most) {
      const last = await store.incr(COUNT, 0);
      const numbers = Array.from({ length: Math.min(last, 2 * most) }, (_, back) => last - back);
      const found = await Promise.all(numbers.map((number) => store.get<FailedJob>(keyOf(number))));
      // A crash between both writes lists a job twice.
      const jobs = new Map(found.flatMap((job) => (job ? [[job.id, job] as const] : [])));
      return [...jobs.values()].sort((one, other) => other.at - one.at).slice(0, most);
    },
  };
}

const listedKey = ({ id }: FailedJob): string => `job-failed-listed:${id}`;
