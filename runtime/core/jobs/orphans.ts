import { randomUUID } from "node:crypto";
import type { Clock, Log } from "../../api/capabilities.ts";
import { createRounds } from "../time/rounds.ts";
import type { JobQueue } from "./queue.ts";
import type { JobRecords } from "./records.ts";

/**
 * Handles queued jobs whose service no process offers. Processes with different sets may share a queue for a while, so
 * a job first waits for a process that offers its service; after an hour without one, this process takes the job to
 * fail it.
 */
export interface OrphanWatch {
  /** Marks this process's services as offered, and looks for orphaned ones; both repeatedly. */
  start(): void;
  /** Whether no process has offered the service for an hour. @throws Problem `unavailable`. */
  isOrphaned(service: string): Promise<boolean>;
  /** Whether a set other than this process's own is sold by another process. @throws Problem `unavailable`. */
  isSoldElsewhere(set: string | undefined): Promise<boolean>;
  /** Takes the mark of this process's set away. */
  close(): Promise<void>;
}

export interface OrphanWatchDeps {
  readonly queue: Pick<JobQueue, "services" | "adopt" | "abandon">;
  readonly records: Pick<JobRecords, "markOffered" | "orphanedSince" | "markSold" | "unmarkSold" | "isSold">;
  /** The digest of the set that this process sells. */
  readonly set?: string | undefined;
  /** The ids of the services that this process offers. */
  readonly offered: ReadonlySet<string>;
  readonly clock: Clock;
  readonly log: Log;
  readonly everyMs: number;
}

/** How long a service must be offered by no process before its jobs are failed. */
const UNKNOWN_SERVICE_GRACE_MS = 60 * 60_000;
/** The life of a mark, as a number of renewals. */
const MISSED_RENEWALS = 4;

export function createOrphanWatch(deps: OrphanWatchDeps): OrphanWatch {
  const { queue, records, set: own, offered, clock, log, everyMs } = deps;
  const seller = randomUUID();
  const adopted = new Set<string>();
  /** After a start, other processes get this time to mark their services. */
  const readyAt = clock.now() + everyMs * MISSED_RENEWALS;
  const rounds = createRounds(async () => {
    await look().catch((error: unknown) => rounds.isClosed() || log.warn("job.orphan-watch-failed", { error }));
    return everyMs;
  });

  return {
    start: rounds.start,
    isOrphaned,
    isSoldElsewhere: async (set) => set !== undefined && set !== own && records.isSold(set),
    async close() {
      await rounds.close();
      if (own !== undefined) await records.unmarkSold(own, seller).catch(() => {}); // The mark expires by itself.
    },
  };

  async function isOrphaned(service: string): Promise<boolean> {
    const since = await records.orphanedSince(service);
    const now = clock.now();
    return since !== undefined && now >= readyAt && now - since >= UNKNOWN_SERVICE_GRACE_MS;
  }

  async function look(): Promise<void> {
    if (own !== undefined) await records.markSold(own, seller, everyMs * MISSED_RENEWALS);
    for (const service of offered) await records.markOffered(service, everyMs * MISSED_RENEWALS);
    const services = new Set([...(await queue.services()), ...adopted]);
    for (const service of services) if (!offered.has(service)) await decide(service);
  }

  async function decide(service: string): Promise<void> {
    const mustAdopt = await isOrphaned(service);
    if (rounds.isClosed() || mustAdopt === adopted.has(service)) return;
    log.warn(mustAdopt ? "job.service-orphaned" : "job.service-offered-again", { service });
    if (mustAdopt) adopted.add(service);
    else adopted.delete(service);
    if (mustAdopt) queue.adopt(service);
    else await queue.abandon(service);
  }
}
