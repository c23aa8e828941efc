import type { Queue } from "bullmq";

/** The part of node-redis's client that is used here. */
export interface ScoresClient {
  zRangeByScoreWithScores(
    key: string,
    min: number,
    max: "+inf",
  ): Promise<readonly { readonly value: string; readonly score: number }[]>;
}

/** How far the clocks of machines may differ. */
const SKEW_MS = 5 * 60_000;
/** BullMQ's scores of waiting jobs: how many there are for each millisecond. */
const SCORES = 4096;

/**
 * Gives a turn to each job whose wait began later than now: the clock was set back since, and paid work must not wait
 * for it to catch up.
 */
export async function endLongWaits(queue: Queue, client: ScoresClient): Promise<void> {
  const latest = Date.now() + SKEW_MS;
  for (const { value, score } of await client.zRangeByScoreWithScores(
    queue.toKey("delayed"),
    latest * SCORES,
    "+inf",
  )) {
    const job = await queue.getJob(value);
    if (job && score / SCORES - job.delay > latest) await job.promote().catch(() => {}); // Another process was first.
  }
}
