import type { Job, JobType, Queue, Worker } from "bullmq";
import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { JobQueue, QueuedJob, Turn, TurnResult } from "../../core/jobs/queue.ts";
import { createRounds } from "../../core/time/rounds.ts";
import { answered, createReconnection, PATIENCE_MS, watchConnection } from "../redis-client.ts";
import { endLongWaits } from "./bullmq-waits.ts";

export interface BullmqQueueOptions {
  /** `redis://` or `rediss://`, with the credentials. */
  readonly url: string;
  /** The prefix of every key, so that a Redis can be shared. */
  readonly prefix: string;
  /** How many jobs of a service this process runs concurrently. */
  readonly concurrencyOf: (service: string) => number;
  readonly log: Log;
}

interface RunningTurn {
  /** Aborted when another process may have taken the job. */
  readonly stop: AbortController;
  readonly over: Promise<TurnResult>;
}

/** A connection that is silent for longer is replaced. More than the 10 seconds for which a worker waits for jobs. */
const SILENCE_MS = 15_000;
/** A lock is renewed at half of this time. When a worker dies, its job waits for the lock's end and two checks. */
const LOCK_MS = 3000;
const CHECK_MS = 1000;
/** The delay after a turn that threw: the cause is not the job, but for example an unreachable store. */
const TROUBLE_MS = 2000;
const QUIET_MS = 10_000;
/** The interval of the search for jobs that would wait too long because the clock was set back. */
const WAITS_MS = 10_000;
/** The states of a job that has not ended. */
const IN_LINE: JobType[] = ["active", "waiting", "delayed"];
/** Nothing is kept of a job that has ended. */
const REMOVED = { removeOnComplete: true, removeOnFail: true };
/** The most entries of BullMQ's stream of events, which nobody reads. */
const EVENTS = 100;

/**
 * The queue in Redis, for any number of processes and machines: one BullMQ queue per service. It is as durable as that
 * Redis. @throws Problem `unavailable` when Redis cannot be reached.
 */
export async function openBullmqQueue(options: BullmqQueueOptions): Promise<JobQueue> {
  const { url, prefix, concurrencyOf, log } = options;
  // Imported on use: loading each takes 0.1 seconds.
  const [bullmq, { createClient }] = await Promise.all([import("bullmq"), import("@keyv/redis")]);
  const closing = new AbortController();
  const reconnection = createReconnection();
  const reconnectStrategy = reconnection.strategy;
  const socket = { connectTimeout: PATIENCE_MS, socketTimeout: SILENCE_MS, reconnectStrategy };
  const client = createClient({ url, socket });
  const complain = createComplaint(log);
  client.on("error", complain);
  await answered(client.connect()).catch((error: unknown) => {
    reconnection.end(client);
    throw gone(error);
  });
  const watch = watchConnection(client, complain); // The workers' connections wait for jobs, and answer no ping meanwhile.
  const connection = bullmq.createNodeRedisClient(client);
  connection.on("error", complain);
  const queues = new Map<string, Queue>();
  const workers = new Map<string, Worker>();
  /** The ends of workers that take no more jobs. */
  let ending: readonly Promise<void>[] = [];
  /** The services whose jobs this process takes. */
  const taken = new Set<string>();
  /** Keyed by the job's id. */
  const turns = new Map<string, RunningTurn>();
  /** The key of the set of services that have ever had a job. */
  const list = `${prefix}:services`;
  let take: Turn | undefined;
  const waits = createRounds(async () => {
    for (const service of taken) await reached(endLongWaits(queueOf(service), client)).catch(complain);
    return WAITS_MS;
  });

  return {
    async add({ id, service, at }) {
      const queue = queueOf(service);
      const added = queue.add("job", { at }, { jobId: id, ...REMOVED });
      await reached(Promise.all([added, client.sAdd(list, service)]));
    },
    count: (service) => reached(countOf(service)),
    async list(service, most) {
      const read = () => reached(queueOf(service).getJobs(IN_LINE, 0, most - 1, true));
      const found = await read().catch(async (error: Problem) => {
        if (!(error.options.cause instanceof SyntaxError)) throw error;
        await mend(service);
        return read();
      });
      return found
        .map(({ id = "", data }) => ({ id, service, at: (data as { at: number }).at }))
        .sort((one, other) => one.at - other.at)
        .slice(0, most);
    },
    async services() {
      const known = await reached(client.sMembers(list));
      const counts = await reached(Promise.all(known.map(countOf)));
      return known.filter((_, at) => counts[at] !== 0);
    },
    start(turn, services) {
      take = turn;
      for (const service of services) adopt(service);
      waits.start();
    },
    adopt,
    async abandon(service) {
      taken.delete(service);
      const worker = workers.get(service);
      workers.delete(service);
      await worker?.close().catch(complain);
    },
    async drain() {
      void waits.close();
      taken.clear();
      endAll();
      await Promise.all(ending);
    },
    async close() {
      closing.abort();
      void waits.close();
      void watch.close();
      reconnection.stop();
      endAll(); // At once, so that no worker takes a job again that has just returned to the queue.
      const closed = Promise.all(ending);
      await Promise.all([...turns.values()].map(({ over }) => over));
      // Without Redis, closing would wait for ever; the locks then expire, as after a crash.
      await answered(closed).catch(complain);
      if (client.isOpen) reconnection.end(client);
    },
  };

  function endAll(): void {
    ending = [...ending, ...[...workers.values()].map((worker) => worker.close().catch(complain))];
    workers.clear();
  }

  function countOf(service: string): Promise<number> {
    return queueOf(service).getJobCountByTypes("waiting", "active", "delayed");
  }

  function queueOf(service: string): Queue {
    const known = queues.get(service);
    if (known) return known;
    const queue = new bullmq.Queue(service, { connection, prefix, streams: { events: { maxLen: EVENTS } } });
    queue.on("error", complain);
    queues.set(service, queue);
    queue.waitUntilReady().catch(() => queues.delete(service)); // A queue that failed to open stays unusable.
    return queue;
  }

  /** Rewrites damaged data that BullMQ keeps of jobs: it would fetch such a job again and again without running it. */
  async function mend(service: string): Promise<void> {
    const queue = queueOf(service);
    for (const id of await reached(queue.getRanges(IN_LINE)))
      await reached(bullmq.Job.fromId(queue, id)).catch(async (error: Problem) => {
        if (!(error.options.cause instanceof SyntaxError)) throw error;
        const kept = { data: JSON.stringify({ at: Date.now() }), opts: JSON.stringify({ jobId: id, ...REMOVED }) };
        await reached(client.hSet(queue.toKey(id), kept));
        log.warn("queue.job-mended", { job: id, service, reason: error.options.cause.message });
      });
  }

  function adopt(service: string): void {
    taken.add(service);
    work(service);
  }

  /** Takes jobs of a service, concurrently with other processes. */
  function work(service: string): void {
    if (!taken.has(service) || workers.has(service) || closing.signal.aborted) return;
    const worker = new bullmq.Worker(service, serve, {
      connection,
      prefix,
      concurrency: concurrencyOf(service),
      autorun: false,
      runRetryDelay: TROUBLE_MS,
      lockDuration: LOCK_MS,
      stalledInterval: CHECK_MS,
      maxStalledCount: Number.MAX_SAFE_INTEGER,
    });
    workers.set(service, worker);
    worker.on("error", (error) => {
      complain(error);
      if (error instanceof SyntaxError) mend(service).catch(complain);
    });
    // Another worker may have the job by now.
    worker.on("lockRenewalFailed", (ids: string[]) => {
      for (const id of ids) turns.get(id)?.stop.abort();
    });
    const replace = async (): Promise<void> => {
      await worker.close(true);
      if (workers.get(service) === worker) workers.delete(service);
      setTimeout(() => work(service), TROUBLE_MS).unref();
    };
    // A worker that failed to open would retry for ever without a pause.
    worker
      .waitUntilReady()
      .then(() => worker.run(), replace)
      .catch(complain);
  }

  async function serve(job: Job<{ at: number }>, token?: string): Promise<void> {
    const id = job.id as string;
    await turns.get(id)?.over; // An earlier turn of this process that has lost its lock.
    const stop = new AbortController();
    const signal = AbortSignal.any([closing.signal, stop.signal]);
    const over = giveTurn({ id, service: job.queueName, at: job.data.at }, signal);
    turns.set(id, { stop, over });
    const result = await over.finally(() => turns.delete(id));
    if (result === "done") return;
    const { retryInMs } = result;
    const back = retryInMs > 0 ? job.moveToDelayed(Date.now() + retryInMs, token) : job.moveToWait(token); // First in line.
    await back.catch(complain); // If this fails, too, the lock expires, and the job gets its turn as after a crash.
    throw new bullmq.DelayedError();
  }

  async function giveTurn(job: QueuedJob, signal: AbortSignal): Promise<TurnResult> {
    if (signal.aborted) return { retryInMs: 0 };
    try {
      return await (take as Turn)(job, signal);
    } catch (error) {
      log.warn("queue.turn-failed", { job: job.id, error });
      return { retryInMs: TROUBLE_MS };
    }
  }
}

/** Logs errors at intervals only: while Redis is unreachable, every call fails. */
function createComplaint(log: Log): (error: unknown) => void {
  let quietUntil = 0;
  return (error) => {
    if (performance.now() < quietUntil) return;
    quietUntil = performance.now() + QUIET_MS;
    log.warn("queue.unreachable", { error });
  };
}

const gone = (cause: unknown): Problem => new Problem("unavailable", "The job queue cannot be reached", { cause });

/** @throws Problem `unavailable` when Redis fails or does not answer in time. */
const reached = <T>(work: Promise<T>): Promise<T> =>
  answered(work).catch((error: unknown) => {
    throw gone(error);
  });
