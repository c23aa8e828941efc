import type { Clock } from "../../api/capabilities.ts";
import type { Run } from "../../api/plugin.ts";
import { type RefundState, type RefundStatus, type Refunds, UNDONE } from "../refunds/refunds.ts";
import type { JobManifest } from "../set/manifest.ts";
import type { JobQueue } from "./queue.ts";
import { isOwedBack, type JobRecord, type JobRecords, toJobId } from "./records.ts";

export interface JobStatus extends RefundStatus {
  readonly job_id: string;
  readonly status: "DISPATCHING" | "IN_PROGRESS" | "DELIVERED" | "FAILED" | "UNKNOWN";
  readonly deliverable: unknown;
  readonly eta_seconds: number | null;
  readonly step: string | null;
  readonly error: string | null;
}

export interface JobStatusDeps {
  readonly records: Pick<JobRecords, "read" | "readEnd" | "progress">;
  readonly refunds: Pick<Refunds, "status">;
  /** Queues a job unless it is queued: a queue may have lost one. */
  readonly requeue?: JobQueue["add"] | undefined;
  readonly clock: Clock;
}

/** A job that shows no sign of life for so long after it should have ended may be missing in the queue. */
const SILENCE_MS = 60_000;

/**
 * Makes the handler of a status route, which shows only the jobs of services that have this route, or have had it, and of
 * services that this process does not know: another one may sell here under another id.
 */
type JobStatusOf = (service: string, job: JobManifest) => Run<{ job_id: string }, JobStatus>;

export function createStatusOf({ records, refunds, requeue, clock }: JobStatusDeps): JobStatusOf {
  /** The services of each status route. */
  const sharing = new Map<string, Set<string>>();
  const isKnown = (service: string): boolean => [...sharing.values()].some((all) => all.has(service));
  return (service, job) => {
    const services = sharing.get(job.status_route) ?? new Set();
    sharing.set(job.status_route, services.add(service));
    return async ({ job_id: given }) => {
      // JSON allows lone surrogates, but no key of the store has one.
      const record = given.isWellFormed() ? await records.read(toJobId(given)) : undefined;
      const isShown = record && (services.has(record.service) || !isKnown(record.service));
      if (!record?.begun || !isShown) return { ...NOTHING, job_id: given, error: "job_not_found" };
      const job_id = record.id;
      const end = await records.readEnd(job_id);
      if (!end) return { ...NOTHING, job_id, ...(await toRunning(record, record.begun.at, job)) };
      if (end.state === "DELIVERED") return { ...NOTHING, job_id, status: end.state, deliverable: end.deliverable };
      const { payment } = record.begun;
      const isOwed = payment && isOwedBack(record, end);
      const { isUndone, ...refund }: Partial<RefundState> = isOwed ? await refunds.status(job_id, payment) : {};
      const error = isUndone ? `${end.error.replace(/\.?$/, ".")} ${UNDONE}` : end.error;
      return { ...NOTHING, job_id, status: end.state, error, ...refund };
    };
  };

  async function toRunning(
    { id, service }: JobRecord,
    begunAt: number,
    { eta_seconds }: JobManifest,
  ): Promise<Pick<JobStatus, "status" | "eta_seconds" | "step">> {
    const progress = await records.progress(id);
    const ageMs = Math.max(0, clock.now() - begunAt); // The clock may be behind that of another process.
    const left = Math.max(0, eta_seconds - Math.floor(ageMs / 1000));
    const silentMs = clock.now() - Math.max(begunAt, progress?.at ?? 0);
    if (silentMs > eta_seconds * 1000 + SILENCE_MS) requeue?.({ id, service, at: begunAt }).catch(() => {}); // The next poll tries again.
    return { status: progress ? "IN_PROGRESS" : "DISPATCHING", eta_seconds: left, step: progress?.step ?? null };
  }
}

const NOTHING: Omit<JobStatus, "job_id"> = {
  status: "UNKNOWN",
  deliverable: null,
  eta_seconds: null,
  step: null,
  error: null,
  refund_tx: null,
  refund_pending: null,
};
