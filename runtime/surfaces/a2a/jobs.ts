import type { Invoke } from "../../core/invoke.ts";
import type { AcceptedJob } from "../../core/jobs/jobs.ts";
import { isOwedBack, type JobRecords } from "../../core/jobs/records.ts";
import type { JobStatus } from "../../core/jobs/status.ts";
import { isObject } from "../../core/json.ts";
import { toFile } from "../../core/proxy/media.ts";
import { UNDONE } from "../../core/refunds/refunds.ts";
import { isJobService, type Service } from "../../core/service.ts";
import { toStatusId } from "../../core/set/job-manifests.ts";
import { withFullStop } from "./errors.ts";
import type { Task, TaskBook, TaskChange } from "./task-book.ts";

/** Updates a task from its job; undefined when the job is not known any more. @throws Problem `rate-limited`, `unavailable`. */
export type FollowJob = (
  task: Task,
  request: { readonly requestId: string; readonly signal: AbortSignal },
) => Promise<Task | undefined>;

export interface FollowJobOptions {
  readonly services: ReadonlyMap<string, Service>;
  readonly invoke: Invoke;
  readonly book: Pick<TaskBook, "write">;
  readonly records: Pick<JobRecords, "read" | "readEnd">;
  /** The URL of the door. */
  readonly endpoint: string;
}

/**
 * The task's state after its service has answered: a job has begun, or the task is completed. A stored answer may be from
 * before the service had jobs, or sold files.
 */
export function toAnswered(service: Service | undefined, output: unknown, done: string): TaskChange {
  if (!service || !isJobService(service) || !isAccepted(output))
    return { state: "completed", text: done, output, ...noteFile(service, output) };
  const { job_id, status_url, eta_seconds } = output;
  const text = `The job ${job_id} has begun and takes about ${eta_seconds} s. Ask for this task again.`;
  return { state: "working", text, job: { job_id, status_url, eta_seconds } };
}

const isAccepted = (output: unknown): output is AcceptedJob =>
  isObject(output) && typeof output.job_id === "string" && typeof output.status_url === "string";

function noteFile(service: Service | undefined, output: unknown): { readonly isFile?: true } {
  const { media } = service?.manifest ?? {};
  return media && toFile({ media }, output) ? { isFile: true } : {};
}

/**
 * Updates the tasks of jobs by calling their free status services. A task is stored only when its state or text has
 * changed; the remaining seconds are shown but not stored.
 */
export function createFollowJob(options: FollowJobOptions): FollowJob {
  const { services, invoke, book, records, endpoint: resource } = options;
  return async (task, { requestId: id, signal }) => {
    const { skill, job } = task;
    const service = services.get(skill);
    const statusService = services.get(toStatusId(skill));
    if (!job || !service || !statusService || task.state === "completed") return task;
    const input = async () => ({ value: { job_id: job.job_id }, from: "body" as const });
    const outcome = await invoke(statusService, { id, input, payment: undefined, resource, signal });
    if (outcome.kind !== "result") return task;
    const status = outcome.output as JobStatus;
    if (status.status === "UNKNOWN") return undefined;
    const { eta_seconds, step, refund_tx, refund_pending } = status;
    const known = { job_id: job.job_id, status_url: job.status_url, eta_seconds, step, refund_tx, refund_pending };
    const next = { ...task, ...(await toEnd(status, task, service)), job: known };
    return next.state === task.state && next.text === task.text ? next : book.write(task, next);
  };

  async function toEnd(status: JobStatus, { payment }: Task, service: Service): Promise<Partial<TaskChange>> {
    if (status.status === "DELIVERED")
      return {
        state: "completed",
        text: "The job is done.",
        output: status.deliverable,
        ...noteFile(service, status.deliverable),
      };
    if (status.status !== "FAILED") return {};
    const refund = payment ? await toRefundText(status) : "Nothing was charged.";
    return {
      state: "failed",
      text: `The job failed: ${withFullStop(status.error ?? "")} ${refund}`.trimEnd(),
    };
  }

  /** The status does not tell a refund that is under way from none, and the service may have changed since the sale. */
  async function toRefundText({ job_id, refund_tx, refund_pending, error }: JobStatus): Promise<string> {
    if (error?.endsWith(UNDONE)) return ""; // The error has said it.
    if (refund_tx !== null) return `Its price was paid back in ${refund_tx}.`;
    if (refund_pending === "manual") return "Its price has to be paid back by hand.";
    const [record, end] = await Promise.all([records.read(job_id), records.readEnd(job_id)]);
    return record && end && isOwedBack(record, end) ? "Its price is being paid back." : "Its price is not paid back.";
  }
}
