import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem, type ProblemCode } from "../../api/problem.ts";
import { isDamaged, unlessDamaged } from "../damage.ts";
import { OTHERWISE, performKept, takeKept } from "../perform.ts";
import type { Refunds } from "../refunds/refunds.ts";
import { isJobService, type JobService, type Service } from "../service.ts";
import { toStatusPath } from "../set/job-manifests.ts";
import type { JobPayment } from "../x402/x402.ts";
import { createOrphanWatch } from "./orphans.ts";
import type { JobQueue, QueuedJob, TurnResult } from "./queue.ts";
import { isOwedBack, type JobEnd, type JobRecord, type JobRecords } from "./records.ts";
import { createSteps } from "./steps.ts";

/** The immediate answer to a call of a job service. */
export interface AcceptedJob {
  readonly job_id: string;
  readonly status: "accepted";
  /** An absolute URL. */
  readonly status_url: string;
  readonly eta_seconds: number;
}

/**
 * Calls that outlive their requests. The order is the promise: the record is written before the money moves, and the
 * work begins only afterwards (runtime/docs/decisions/order-of-money.md).
 */
export interface Jobs {
  /**
   * Records a job that must not begin yet, and keeps a place in the queue for it while `settle` runs.
   * @throws Problem `unavailable` when the queue is full, and what `settle` throws.
   */
  reserve<T>(service: JobService, input: unknown, settle: (accepted: AcceptedJob) => Promise<T>): Promise<T>;
  /**
   * Lets the work begin: `payment` is settled, or null for free jobs. Idempotent. @throws Problem `unavailable`.
   * @param service of a job that was paid for: it fails, and is paid back, where its record is lost
   */
  begin(id: string, payment: JobPayment | null, service?: string): Promise<void>;
  /** How many jobs of a service are queued or running, in all processes. @throws Problem `unavailable`. */
  inLine(service: string): Promise<number>;
  /** The services that have queued or running jobs, in all processes, offered here or not. @throws Problem `unavailable`. */
  servicesInLine: JobQueue["services"];
  /** The oldest queued or running jobs of a service, at most a given number. @throws Problem `unavailable`. */
  list: JobQueue["list"];
  /** Starts working on queued jobs, also on those of earlier processes. */
  start(): void;
  /** Takes no more jobs, and waits for the running ones. Jobs can still be reserved and begun. */
  drain(): Promise<void>;
  /** Aborts the running jobs, which return to the queue. */
  close(): Promise<void>;
}

/** A job that has failed for good. */
export interface FailedJob {
  readonly id: string;
  readonly service: string;
  /** Why it failed: a sentence. */
  readonly error: string;
  /** Unix milliseconds. */
  readonly at: number;
}

export interface JobsDeps {
  readonly services: readonly Service[];
  /** The digest of the set that has these services. */
  readonly set?: string | undefined;
  readonly records: JobRecords;
  readonly queue: JobQueue;
  readonly refunds: Pick<Refunds, "open">;
  /** Called for each job that has failed for good; repeated while it rejects. */
  readonly onFailed?: ((job: FailedJob) => Promise<void>) | undefined;
  /** Called for each recorded end, in the process that has recorded it. */
  readonly onEnded?: ((job: JobRecord, end: JobEnd) => void) | undefined;
  readonly clock: Clock;
  readonly log: Log;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** The delay before the second attempt; doubled for each further one. */
  readonly retryMs?: number;
  /** How long a running step may go on after its attempt has ended. */
  readonly stepGraceMs?: number;
  /** The interval of the search for jobs of services that no process offers. */
  readonly orphansMs?: number;
}

/** Failures that may be transient, so that another attempt makes sense. */
export const MAY_PASS: readonly ProblemCode[] = [
  "upstream-failed",
  "unavailable",
  "rate-limited",
  "deadline-exceeded",
  "internal",
];
/** After this many turns a job fails: it probably crashes its worker each time. */
const MOST_TURNS = 25;
const LOST =
  "The store has lost its record; when it was paid for, the book has the sale, and it must be refunded by hand";
const NOT_KNOWN = "Its record in the shop's store was lost";
const WITHDRAWN = "The service is not offered any more";
const LONGEST_RETRY_MS = 5 * 60_000;
const FULL_RETRY_SECONDS = 60;
/** The delay of a job that this process took although another process offers its service again. */
const UNKNOWN_SERVICE_RETRY_MS = 5000;
/** The average delay of a job that another process may do. Random, so that this one is not always the first to take it. */
const ELSEWHERE_RETRY_MS = 2000;

export function createJobs(deps: JobsDeps): Jobs {
  const { services, set, records, queue, refunds, clock, log, baseUrl, retryMs = 5000, stepGraceMs = 5000 } = deps;
  const { orphansMs = 20_000 } = deps;
  const byId = new Map(services.filter(isJobService).map((service) => [service.manifest.id, service]));
  const offered = new Set(byId.keys());
  const orphans = createOrphanWatch({ queue, records, set, offered, clock, log, everyMs: orphansMs });
  /** The services of the jobs that are being settled, one element per reserved place in the queue. */
  const places: string[] = [];

  return {
    async reserve(service, input, settle) {
      const { id } = service.manifest;
      const { eta_seconds, queue_limit, refund } = service.job.manifest;
      const inLine = await queue.count(id);
      if (inLine + places.filter((place) => place === id).length >= queue_limit) {
        const detail = `${queue_limit} jobs are in line already; nothing was charged`;
        throw new Problem("unavailable", detail, { retryAfter: FULL_RETRY_SECONDS });
      }
      places.push(id);
      try {
        const { id: job_id } = await records.reserve({ service: id, input, set, refund });
        const status_url = baseUrl + toStatusPath(service.job.manifest, job_id);
        return await settle({ job_id, status: "accepted", status_url, eta_seconds });
      } finally {
        places.splice(places.indexOf(id), 1);
      }
    },
    async begin(id, payment, service) {
      const record = await records.begin(id, payment, service);
      if (!record?.begun)
        throw new Problem("internal", undefined, { cause: new Error(`The job ${id} is not on record`) });
      if (await records.readEnd(id)) return;
      await queue.add({ id, service: record.service, at: record.begun.at });
    },
    inLine: queue.count,
    servicesInLine: queue.services,
    list: queue.list,
    start() {
      queue.start(take, offered);
      orphans.start();
    },
    async drain() {
      await Promise.all([orphans.close(), queue.drain()]);
    },
    async close() {
      await Promise.all([orphans.close(), queue.close()]);
    },
  };

  /** One turn, which also completes what an earlier turn left undone. */
  async function take(queued: QueuedJob, signal: AbortSignal): Promise<TurnResult> {
    const { id } = queued;
    const record = await records.read(id).catch(unlessDamaged);
    if (!record?.begun) return lose(queued); // A job is queued after its record is written.
    const ended = (await records.readEnd(id)) ?? (await attempt(record, signal).catch((error) => spoil(record, error)));
    return "retryInMs" in ended ? ended : conclude(record, ended);
  }

  /** Fails a job whose record is lost, since its input and what was done of it are unknown. */
  async function lose({ id, service }: QueuedJob): Promise<TurnResult> {
    const refund = byId.get(service)?.job.manifest.refund ?? true;
    const record = await records.recover({ id, service, refund }).catch(unlessDamaged);
    log.error("job.lost", { job: id, service });
    if (record) return conclude(record, (await records.readEnd(id)) ?? (await fail(record, NOT_KNOWN, "withdrawn")));
    await deps.onFailed?.({ id, service, error: LOST, at: clock.now() });
    return "done";
  }

  /** Fails a job with a damaged step or counter: another turn would meet the same damage. */
  function spoil(job: JobRecord, error: unknown): Promise<JobEnd> {
    if (!isDamaged(error)) throw error;
    return fail(job, NOT_KNOWN, "withdrawn");
  }

  /** Opens the refund before it tells the seller, so that a failing message does not delay the refund. */
  async function conclude({ id, service, begun, refund }: JobRecord, end: JobEnd): Promise<"done"> {
    if (end.state !== "FAILED") return "done";
    if (begun?.payment && isOwedBack({ refund }, end)) await refunds.open({ id, service, payment: begun.payment });
    await deps.onFailed?.({ id, service, ...end });
    return "done";
  }

  async function attempt(job: JobRecord, signal: AbortSignal): Promise<JobEnd | { readonly retryInMs: number }> {
    const service = byId.get(job.service);
    if (!service)
      return (await orphans.isOrphaned(job.service))
        ? fail(job, WITHDRAWN, "withdrawn")
        : { retryInMs: UNKNOWN_SERVICE_RETRY_MS };
    if (service.isUnable || !takeKept(service, job.input))
      return (await orphans.isSoldElsewhere(job.set))
        ? { retryInMs: ELSEWHERE_RETRY_MS * (0.5 + Math.random()) }
        : fail(job, service.isUnable ? WITHDRAWN : OTHERWISE, "withdrawn");
    const turns = await records.countTurn(job.id);
    if (turns > MOST_TURNS) return fail(job, "The work crashed again and again");
    if (turns === 1) await records.note(job.id, null);
    const deliverable = await work(service, job, signal);
    if (!(deliverable instanceof Problem)) return end(job, { state: "DELIVERED", at: clock.now(), deliverable });
    return signal.aborted ? { retryInMs: 0 } : judge(service, job, deliverable);
  }

  /**
   * The deliverable, or the Problem of a failed attempt. @throws Problem `unavailable` when the store failed during a
   * step: that is not the job's failure, and it gets another turn.
   */
  async function work(service: JobService, { id, input, begun }: JobRecord, signal: AbortSignal): Promise<unknown> {
    const { payer, network } = begun?.payment ?? {};
    const steps = createSteps(id, { records, log, graceMs: stepGraceMs });
    const call = { id, signal, payer: payer ?? undefined, network, ...steps.lent };
    const outcome = await performKept(service, input, call).catch(Problem.from);
    await steps.end();
    return outcome;
  }

  async function judge(
    service: JobService,
    job: JobRecord,
    problem: Problem,
  ): Promise<JobEnd | { readonly retryInMs: number }> {
    const { code, message, options } = problem;
    const error = options.cause ?? problem;
    log.warn("job.attempt-failed", { job: job.id, service: job.service, code, error });
    if (!MAY_PASS.includes(code)) return fail(job, message);
    const failures = await records.countFailure(job.id);
    if (failures >= service.job.manifest.attempts) return fail(job, message);
    const backoffMs = retryMs * 2 ** (failures - 1);
    return { retryInMs: Math.min((options.retryAfter ?? 0) * 1000 || backoffMs, LONGEST_RETRY_MS) };
  }

  function fail(job: JobRecord, error: string, why?: "withdrawn"): Promise<JobEnd> {
    return end(job, { state: "FAILED", at: clock.now(), error, ...(why && { isWithdrawn: true }) });
  }

  /** Records the end, and returns the end that counts, which may be another worker's. */
  async function end(job: JobRecord, proposed: JobEnd): Promise<JobEnd> {
    const { id, service } = job;
    const counts = await records.end(id, proposed);
    log.info("job.ended", { job: id, service, state: counts.state });
    deps.onEnded?.(job, counts);
    return counts;
  }
}
