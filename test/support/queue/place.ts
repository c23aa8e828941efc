import type { JobQueue } from "../../../runtime/core/jobs/queue.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { openBullmqQueue } from "../../../runtime/drivers/queue/bullmq.ts";
import { createStoreQueue } from "../../../runtime/drivers/queue/store.ts";
import { openStore } from "../../../runtime/drivers/store/open-store.ts";

/** The place of a queue; serializable, for child processes. */
export type QueuePlace = { readonly dataDir: string } | { readonly redisUrl: string };

/** The services of these tests, with their concurrency. */
export const SERVICES: Readonly<Record<string, number>> = { one: 1, three: 3, many: 10 };

/** Opens the queue at a place. Closing it also closes its store. */
export async function openTestQueue(place: QueuePlace): Promise<{ queue: JobQueue; close: () => Promise<void> }> {
  const concurrencyOf = (service: string): number => SERVICES[service] ?? 1;
  if ("redisUrl" in place) {
    const terms = { prefix: "payphone-jobs", concurrencyOf, log: silentLog };
    const queue = await openBullmqQueue({ url: place.redisUrl, ...terms });
    return { queue, close: () => queue.close() };
  }
  const store = await openStore(place);
  const queue = createStoreQueue({ store, clock: { now: Date.now }, log: silentLog, concurrencyOf });
  return { queue, close: () => queue.close().then(() => store.close()) };
}
