import PQueue from "p-queue";
import type { Clock, Log } from "../../api/capabilities.ts";
import type { JobQueue, QueuedJob, Turn, TurnResult } from "../../core/jobs/queue.ts";
import { createLeases, type Lease } from "../../core/leases.ts";
import type { Store } from "../../core/store.ts";

export interface StoreQueueOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** How many jobs of a service this process works on at the same time. */
  readonly concurrencyOf: (service: string) => number;
  /** How long after its process died a job is free for others. */
  readonly leaseMs?: number;
  /** How often the line is looked through for jobs that others have left, and for those that wait for another turn. */
  readonly sweepMs?: number;
  /** The pause after a turn that has thrown: what it met is not the job's own, such as a store that is away. */
  readonly troubleMs?: number;
}

/** A job in line, as the store keeps it. */
interface Entry extends QueuedJob {
  /** Milliseconds since the Unix epoch. */
  readonly notBefore: number;
}

/** A job that has its turn in this process. */
interface Running {
  lease: Lease;
  /** Aborted when another process may have the job. */
  readonly stop: AbortController;
}

/**
 * The line of jobs in the store that everything else is in: enough for one process, and for several on one machine. Each
 * process takes jobs by a lease, in the order in which they were paid for.
 */
export function createStoreQueue(options: StoreQueueOptions): JobQueue {
  const { store, clock, log, concurrencyOf, leaseMs = 1500, sweepMs = 250, troubleMs = 2000 } = options;
  const onError = (error: unknown): void => log.warn("queue.lease-failed", { error });
  const onLapse = (key: string): void => void reclaim(key);
  const leases = createLeases({ store, prefix: "queue-lease:", onError, onLapse, leaseMs });
  const closing = new AbortController();
  const lines = new Map<string, PQueue>();
  /** Keys that stand in a line of this process. */
  const known = new Set<string>();
  const running = new Map<string, Running>();
  /** The services whose jobs this process takes. */
  const taken = new Set<string>();
  let take: Turn | undefined;
  let timer: NodeJS.Timeout | undefined;
  let isTold = false;

  return {
    async add(job) {
      const entry: Entry = { ...job, notBefore: 0 };
      await store.putIfAbsent(keyOf(job), entry);
      if (taken.has(job.service)) admit(keyOf(job), job.service);
    },
    async count(service) {
      let count = 0;
      for await (const _ of store.keys(`queue:${service}:`)) count += 1;
      return count;
    },
    async services() {
      const found = new Set<string>();
      for await (const key of store.keys("queue:")) found.add(serviceOf(key));
      return [...found];
    },
    start(turn, services) {
      take = turn;
      for (const service of services) taken.add(service);
      void sweep();
    },
    adopt: (service) => void taken.add(service),
    async abandon(service) {
      taken.delete(service);
    },
    async close() {
      closing.abort();
      clearTimeout(timer);
      for (const line of lines.values()) line.clear();
      await Promise.all([...lines.values()].map((line) => line.onIdle()));
      leases.close();
    },
  };

  async function sweep(): Promise<void> {
    try {
      const keys: string[] = [];
      for (const service of taken)
        for await (const key of store.keys(`queue:${service}:`)) if (!known.has(key)) keys.push(key);
      for (const key of keys.sort()) admit(key, serviceOf(key));
      isTold = false;
    } catch (error) {
      if (!isTold) log.error("queue.sweep-failed", { error }); // Once for each outage.
      isTold = true;
    }
    if (!closing.signal.aborted) timer = setTimeout(() => void sweep(), sweepMs).unref();
  }

  function admit(key: string, service: string): void {
    if (known.has(key) || closing.signal.aborted) return;
    known.add(key);
    const line = lines.get(service) ?? new PQueue({ concurrency: concurrencyOf(service) });
    lines.set(service, line);
    const serve = (): Promise<void> =>
      serveOnce(key)
        .catch((error: unknown) => log.warn("queue.turn-failed", { error }))
        .finally(() => known.delete(key));
    void line.add(serve);
  }

  /** Gives a job its turn, unless it is over, waits for its time, or is another process's. */
  async function serveOnce(key: string): Promise<void> {
    const lease = (await readDue(key)) && (await leases.claim(key));
    if (!lease) return;
    const turn: Running = { lease, stop: new AbortController() };
    running.set(key, turn);
    try {
      const entry = await readDue(key); // Another process may have served it meanwhile.
      if (entry) await settle(key, entry, await giveTurn(entry, AbortSignal.any([closing.signal, turn.stop.signal])));
    } finally {
      running.delete(key);
      await turn.lease.release();
    }
  }

  /** Undefined when the job is over, waits for its time, or is not this process's. */
  async function readDue(key: string): Promise<Entry | undefined> {
    const entry = taken.has(serviceOf(key)) ? await store.get<Entry>(key) : undefined;
    return entry && entry.notBefore <= clock.now() ? entry : undefined;
  }

  async function giveTurn({ id, service, at }: Entry, signal: AbortSignal): Promise<TurnResult> {
    try {
      return await (take as Turn)({ id, service, at }, signal);
    } catch (error) {
      log.warn("queue.turn-failed", { job: id, error });
      return { retryInMs: troubleMs };
    }
  }

  async function settle(key: string, entry: Entry, result: TurnResult): Promise<void> {
    if (result === "done") await store.delete(key);
    else if (result.retryInMs > 0) await store.set(key, { ...entry, notBefore: clock.now() + result.retryInMs });
  }

  /** A process that was stalled goes on with its job, unless another one has it. */
  async function reclaim(key: string): Promise<void> {
    const turn = running.get(key);
    if (!turn) return;
    const lease = await leases.claim(key).catch(onError);
    if (lease && running.get(key) === turn) turn.lease = lease;
    else await lease?.release().catch(onError);
    if (!lease) turn.stop.abort();
  }
}

/** Sorted as the line is: by time, which has 13 digits until the year 2286. */
const keyOf = ({ id, service, at }: QueuedJob): string => `queue:${service}:${String(at).padStart(13, "0")}:${id}`;

const serviceOf = (key: string): string => key.split(":")[1] as string;
