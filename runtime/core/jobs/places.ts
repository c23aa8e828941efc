import { untilAborted } from "../time/deadline.ts";
import type { JobQueue } from "./queue.ts";

/** How many jobs of each service run in this process, in all of its sets: those of an earlier set run to their end. */
export interface JobPlaces {
  /** Waits until fewer than `limit` jobs of the service run. False when the signal was aborted first. */
  take(service: string, limit: number, signal: AbortSignal): Promise<boolean>;
  /** Whether fewer than `limit` jobs of the service run. */
  hasFree(service: string, limit: number): boolean;
  /** To be called when a job that has taken a place has ended. */
  free(service: string): void;
}

interface Running {
  count: number;
  /** Resolved, and replaced, when a job ends. */
  freed: PromiseWithResolvers<void>;
}

/** How long a job waits for a place, before it returns to the queue, where another process may take it. */
const WAIT_MS = 5000;

export function createJobPlaces(): JobPlaces {
  const services = new Map<string, Running>();
  const runningOf = (service: string): Running => {
    const running = services.get(service) ?? { count: 0, freed: Promise.withResolvers() };
    services.set(service, running);
    return running;
  };

  return {
    async take(service, limit, signal) {
      const running = runningOf(service);
      while (running.count >= limit && !signal.aborted)
        await untilAborted(running.freed.promise, signal).catch(() => undefined);
      if (signal.aborted) return false;
      running.count += 1;
      return true;
    },
    hasFree: (service, limit) => runningOf(service).count < limit,
    free(service) {
      const running = runningOf(service);
      running.count -= 1;
      running.freed.resolve();
      running.freed = Promise.withResolvers();
    },
  };
}

/** The queue of one set, whose turns wait while jobs of earlier sets have the places of their service. */
export function withPlaces(
  queue: JobQueue,
  places: JobPlaces,
  limitOf: (service: string) => number,
  waitMs = WAIT_MS,
): JobQueue {
  const leaving = new AbortController();
  return {
    ...queue,
    start(turn, services) {
      queue.start(async (job, signal) => {
        const waiting = AbortSignal.any([signal, leaving.signal, AbortSignal.timeout(waitMs)]);
        if (!(await places.take(job.service, limitOf(job.service), waiting))) return { retryInMs: 0 };
        return turn(job, signal).finally(() => places.free(job.service));
      }, services);
    },
    drain() {
      leaving.abort(); // What waits for a place is done by the next set.
      return queue.drain();
    },
  };
}
