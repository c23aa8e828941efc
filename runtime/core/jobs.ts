import type { Clock, Log } from "../api/capabilities.ts";
import { Problem, type ProblemCode } from "../api/problem.ts";
import type { JobQueue, QueuedJob, Verdict } from "./job-queue.ts";
import type { JobEnd, JobPayment, JobRecord, JobRecords } from "./job-records.ts";
import { perform } from "./perform.ts";
import type { Refunds } from "./refunds.ts";
import { isJobService, type JobService, type Service } from "./service.ts";

/** What a caller of a job is told at once (specification 2.12 and 2.13). */
export interface AcceptedJob {
  readonly job_id: string;
  readonly status: "accepted";
  /** Absolute. */
  readonly status_url: string;
  readonly eta_seconds: number;
}

/**
 * Calls that outlive their requests. The order is the promise: the record is written before the money moves, and the work
 * begins only after it has moved (decisions.md, "The order of things", 7).
 */
export interface Jobs {
  /** Puts a job on record, not to be worked on yet. @throws Problem `unavailable` when the line is full. */
  reserve(service: JobService, input: unknown): Promise<AcceptedJob>;
  /** Lets the work begin: `payment` has moved. Doing it again changes nothing. @throws Problem `unavailable`. */
  begin(id: string, payment: JobPayment | null): Promise<void>;
  /** Begins to work on what is in line, and on what an earlier process has left there. */
  start(): void;
  /** Ends the work; what is not finished goes back in line. */
  close(): Promise<void>;
}

export interface JobsDeps {
  readonly services: readonly Service[];
  readonly records: JobRecords;
  readonly queue: JobQueue;
  readonly refunds: Refunds;
  readonly clock: Clock;
  readonly log: Log;
  /** Without a trailing slash. */
  readonly baseUrl: string;
  /** Before the second attempt; doubled for each further one. */
  readonly retryMs?: number;
}

/** Failures that another attempt may not meet. */
const MAY_PASS: readonly ProblemCode[] = [
  "upstream-failed",
  "unavailable",
  "rate-limited",
  "deadline-exceeded",
  "internal",
];
/** A job whose turns end without a word, again and again, takes its worker with it each time. */
const MOST_TURNS = 25;
const LONGEST_RETRY_MS = 5 * 60_000;
const FULL_RETRY_SECONDS = 60;

export function createJobs(deps: JobsDeps): Jobs {
  const { services, records, queue, refunds, clock, log, baseUrl, retryMs = 5000 } = deps;
  const byId = new Map(services.filter(isJobService).map((service) => [service.manifest.id, service]));

  return {
    async reserve(service, input) {
      const { id } = service.manifest;
      const { eta_seconds, queue_limit, refund, status_route } = service.job.manifest;
      if ((await queue.count(id)) >= queue_limit) {
        const detail = `${queue_limit} jobs are in line already; nothing was charged`;
        throw new Problem("unavailable", detail, { retryAfter: FULL_RETRY_SECONDS });
      }
      const { id: job_id } = await records.reserve({ service: id, input, refund });
      const path = status_route.slice(status_route.indexOf("/")).replace(/\{\w+\}/, job_id);
      return { job_id, status: "accepted", status_url: `${baseUrl}${path}`, eta_seconds };
    },
    async begin(id, payment) {
      const record = await records.begin(id, payment);
      if (!record?.begun)
        throw new Problem("internal", undefined, { cause: new Error(`The job ${id} is not on record`) });
      if (await records.readEnd(id)) return;
      await queue.add({ id, service: record.service, at: record.begun.at });
    },
    start: () => queue.start(take),
    close: () => queue.close(),
  };

  /** One turn: whatever an earlier one has left undone is done. */
  async function take({ id }: QueuedJob, signal: AbortSignal): Promise<Verdict> {
    const record = await records.read(id);
    if (!record?.begun) return "done";
    const ended = (await records.readEnd(id)) ?? (await attempt(record, signal));
    if ("againMs" in ended) return ended;
    const { payment } = record.begun;
    if (ended.state === "FAILED" && payment && record.refund)
      await refunds.open({ id, service: record.service, payment });
    return "done";
  }

  async function attempt(record: JobRecord, signal: AbortSignal): Promise<JobEnd | { readonly againMs: number }> {
    const { id } = record;
    const service = byId.get(record.service);
    if (!service) return fail(record, "The service is not offered any more");
    if ((await records.countTurn(id)) > MOST_TURNS) return fail(record, "The work broke off again and again");
    try {
      const deliverable = await work(service, record, signal);
      const end = await records.end(id, { state: "DELIVERED", at: clock.now(), deliverable });
      log.info("job.ended", { job: id, service: record.service, state: end.state });
      return end;
    } catch (thrown) {
      if (signal.aborted) return { againMs: 0 };
      const problem = Problem.from(thrown);
      log.warn("job.attempt-failed", {
        job: id,
        service: record.service,
        code: problem.code,
        error: problem.options.cause ?? problem,
      });
      if (!MAY_PASS.includes(problem.code)) return fail(record, problem.message);
      const failures = await records.countFailure(id);
      if (failures >= service.job.manifest.attempts) return fail(record, problem.message);
      const againMs = Math.min(
        (problem.options.retryAfter ?? 0) * 1000 || retryMs * 2 ** (failures - 1),
        LONGEST_RETRY_MS,
      );
      return { againMs };
    }
  }

  function work(service: JobService, { id, input, begun }: JobRecord, signal: AbortSignal): Promise<unknown> {
    const { handler, job } = service;
    const note = (step: string): void =>
      void records.note(id, step).catch((error: unknown) => log.warn("job.progress-lost", { job: id, error }));
    const payment = begun?.payment;
    return perform(
      { manifest: service.manifest, handler, output: job.deliverable, deadlineMs: job.deadlineMs },
      input,
      {
        ...{ id, signal, payer: payment?.payer ?? undefined, network: payment?.network },
        report: note,
        async step(name, toDo) {
          const kept = await records.readStep(id, name);
          if (kept) return kept.value as Awaited<ReturnType<typeof toDo>>; // As the same step gave it before.
          note(name);
          return (await records.keepStep(id, name, await toDo())) as Awaited<ReturnType<typeof toDo>>;
        },
      },
    );
  }

  async function fail({ id, service }: JobRecord, error: string): Promise<JobEnd> {
    const end = await records.end(id, { state: "FAILED", at: clock.now(), error });
    log.warn("job.ended", { job: id, service, state: end.state, error });
    return end;
  }
}
