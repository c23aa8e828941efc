import type { Clock } from "../../api/capabilities.ts";
import type { AcceptedJob } from "../../core/jobs/jobs.ts";
import type { JobStatus } from "../../core/jobs/status.ts";
import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";

/** The states of a task that are met here, spelled as A2A 0.3 does. `working`: what is paid for, or done for nothing, is not in hand yet. */
export type TaskState = "working" | "input-required" | "completed" | "canceled" | "failed" | "rejected";

/** How far a task's payment is (A2A x402 extension, section 7). */
export interface TaskPayment {
  readonly status:
    | "payment-required"
    | "payment-submitted"
    | "payment-rejected"
    | "payment-completed"
    | "payment-failed";
  /** A code of section 9.1. */
  readonly error?: string;
  /** Every settlement that was tried, in order. */
  readonly receipts: readonly SettleResponse[];
}

/** Where the job stands that a task has begun, and where else it can be asked for. */
export type TaskJob = Pick<AcceptedJob, "job_id" | "status_url"> &
  Partial<Pick<JobStatus, "eta_seconds" | "step" | "refund_tx" | "refund_pending">>;

/** One call of a service as an A2A task. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly skill: string;
  /** Unchecked; gone when the task has ended. */
  readonly input?: unknown;
  readonly state: TaskState;
  /** A sentence about the state. */
  readonly text: string;
  /** Left out for free services. */
  readonly payment?: TaskPayment;
  /** Set once a job has begun. */
  readonly job?: TaskJob;
  /** Set when completed. */
  readonly output?: unknown;
  /** The problem document, when it failed or was rejected. */
  readonly problem?: object;
  /** Milliseconds since the Unix epoch. */
  readonly updatedAt: number;
}

/** What changes of a task. */
export type TaskChange = Omit<Task, "id" | "contextId" | "skill" | "updatedAt">;

/** The tasks, kept for as long as somebody may ask for them. */
export interface TaskBook {
  /** A task that nobody has seen yet, under an id that nobody can guess. */
  draft(skill: string, contextId: string | undefined): Pick<Task, "id" | "contextId" | "skill">;
  read(id: string): Promise<Task | undefined>;
  /** Writes a task down: one with a job for as long as the job is known, any other paid one for a day. */
  write(task: Pick<Task, "id" | "contextId" | "skill">, change: TaskChange): Promise<Task>;
  /** Binds a task to one payment, or to being canceled: false when it is bound to another one already. Atomic. */
  bind(id: string, to: TaskBond): Promise<boolean>;
  bond(id: string): Promise<TaskBond | undefined>;
  /** Frees a task from a payment that was refused. */
  free(id: string, from: TaskBond): Promise<void>;
}

/** The payment that a task is bound to, as it arrived; null when it is canceled. */
export interface TaskBond {
  readonly payment: string | object | null;
}

const UNPAID_MS = 15 * 60_000;
const PAID_MS = 24 * 60 * 60_000;

export function createTaskBook({ store, clock }: { readonly store: Store; readonly clock: Clock }): TaskBook {
  const taskKey = (id: string): string => `a2a:task:${id}`;
  const bondKey = (id: string): string => `a2a:bond:${id}`;
  const bond = (id: string): Promise<TaskBond | undefined> => store.get<TaskBond>(bondKey(id));
  const isBoundTo = async (id: string, { payment }: TaskBond): Promise<boolean> => {
    const bound = await bond(id);
    return bound !== undefined && JSON.stringify(bound.payment) === JSON.stringify(payment);
  };
  return {
    draft: (skill, contextId = crypto.randomUUID()) => ({ id: crypto.randomUUID(), contextId, skill }),
    read: (id) => store.get<Task>(taskKey(id)),
    async write({ id, contextId, skill }, change) {
      const task: Task = { id, contextId, skill, ...change, updatedAt: clock.now() };
      const isPaid = change.payment?.status === "payment-completed" || change.payment?.status === "payment-submitted";
      await store.set(taskKey(id), task, change.job ? JOB_KEEP_MS : isPaid ? PAID_MS : UNPAID_MS);
      return task;
    },
    bind: async (id, to) => (await store.putIfAbsent(bondKey(id), to, PAID_MS)) || isBoundTo(id, to),
    bond,
    async free(id, from) {
      if (await isBoundTo(id, from)) await store.delete(bondKey(id));
    },
  };
}
