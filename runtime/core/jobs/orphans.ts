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
  /**
   * Whether a set other than this process's own is sold by another process, or may be: a mark may be missing for a while
   * where it could not be written, or where the clock has jumped. @throws Problem `unavailable`.
   */
  isSoldElsewhere(set: string | undefined): Promise<boolean>;
  /** Marks that this process sells its set no more. */
  close(): Promise<void>;
}

export interface OrphanWatchDeps {
  readonly queue: Pick<JobQueue, "services" | "adopt" | "abandon">;
  readonly records: Pick<JobRecords, "markOffered" | "orphanedSince" | "markSold" | "isSold">;
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
/** How long a set without any mark may still be sold, as a number of renewals. */
const AWAITED_RENEWALS = 2;
/** A set that nobody has asked for in this time may have had marks since. A job that waits asks more often. */
const FORGOTTEN_MS = 60 * 60_000;

export function createOrphanWatch(deps: OrphanWatchDeps): OrphanWatch {
  const { queue, records, set: own, offered, clock, log, everyMs } = deps;
  const seller = randomUUID();
  const adopted = new Set<string>();
  /** Sets that were found without a mark: the first and the last time of this, by the monotonic clock. */
  const unmarked = new Map<string, { readonly since: number; readonly at: number }>();
  const markMs = everyMs * MISSED_RENEWALS;
  /** After a start, other processes get this time to mark their services; by the monotonic clock. */
  const readyAt = performance.now() + markMs;
  const rounds = createRounds(async () => {
    await look().catch((error: unknown) => rounds.isClosed() || log.warn("job.orphan-watch-failed", { error }));
    return everyMs;
  });

  return {
    start: rounds.start,
    isOrphaned,
    isSoldElsewhere: async (set) => set !== undefined && set !== own && mayBeSold(set),
    async close() {
      await rounds.close();
      if (own !== undefined) await records.markSold(own, seller, false, markMs).catch(() => {}); // The mark expires by itself.
    },
  };

  async function isOrphaned(service: string): Promise<boolean> {
    const since = await records.orphanedSince(service);
    if (since === undefined || performance.now() < readyAt) return false;
    return clock.now() - since >= UNKNOWN_SERVICE_GRACE_MS;
  }

  async function mayBeSold(set: string): Promise<boolean> {
    const isSold = await records.isSold(set);
    if (isSold !== undefined) {
      unmarked.delete(set);
      return isSold;
    }
    const at = performance.now();
    const known = unmarked.get(set);
    const since = known && at - known.at < FORGOTTEN_MS ? known.since : at;
    unmarked.set(set, { since, at });
    return at - since < everyMs * AWAITED_RENEWALS;
  }

  async function look(): Promise<void> {
    if (own !== undefined) await records.markSold(own, seller, true, markMs);
    for (const service of offered) await records.markOffered(service, markMs);
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
