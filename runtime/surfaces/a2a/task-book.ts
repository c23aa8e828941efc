import type { Clock } from "../../api/capabilities.ts";
import { isSameJson } from "../../core/digest.ts";
import type { AcceptedJob } from "../../core/jobs/jobs.ts";
import type { JobStatus } from "../../core/jobs/status.ts";
import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import { createLeases, type Lease } from "../../core/time/leases.ts";
import { nameOf, parsePayment } from "../../core/x402/read-payment.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { createUnpaidTasks } from "./unpaid-tasks.ts";

/** The task states that occur here, in A2A 0.3's spelling. `working`: a job runs, or a payment's outcome is unknown. */
export type TaskState = "working" | "input-required" | "completed" | "canceled" | "failed" | "rejected";

/** The state of a task's payment (A2A x402 extension, section 7). */
export interface TaskPayment {
  readonly status:
    | "payment-required"
    | "payment-submitted"
    | "payment-rejected"
    | "payment-completed"
    | "payment-failed";
  /** A code of section 9.1. */
  readonly error?: string;
  /** Every attempted settlement, in order. */
  readonly receipts: readonly SettleResponse[];
  /** The payment was verified for this task: it is no copy of one that was settled before. */
  readonly isOwn?: boolean;
}

/** The state of a task's job, and the URL where it can also be polled. */
export type TaskJob = Pick<AcceptedJob, "job_id" | "status_url"> &
  Partial<Pick<JobStatus, "eta_seconds" | "step" | "refund_tx" | "refund_pending">>;

/** A message of a task's history, in neither dialect. */
export interface TaskMessage {
  readonly messageId: string;
  /** The texts and data that the client sent; no files. */
  readonly parts: readonly { readonly text?: unknown; readonly data?: unknown }[];
}

/** One call of a service as an A2A task. */
export interface Task {
  readonly id: string;
  readonly contextId: string;
  readonly skill: string;
  /** Unchecked; removed when the task ends and, if its price is paid back, the transaction is known. */
  readonly input?: unknown;
  readonly state: TaskState;
  /** A sentence about the state. */
  readonly text: string;
  /** Omitted for free services. */
  readonly payment?: TaskPayment;
  /** The client's messages, oldest first. */
  readonly history?: readonly TaskMessage[];
  /** Set once a job has begun. */
  readonly job?: TaskJob;
  /** Set when completed. */
  readonly output?: unknown;
  readonly isFile?: boolean;
  /** The problem document, when it failed or was rejected. */
  readonly problem?: object;
  /** Milliseconds since the Unix epoch. */
  readonly updatedAt: number;
}

export type TaskChange = Omit<Task, "id" | "contextId" | "skill" | "history" | "updatedAt">;

/** The fields of a task that a call does not change. */
export type TaskHead = Pick<Task, "id" | "contextId" | "skill" | "history">;

export interface TaskBook {
  /** A new task with an unguessable id. The task is not stored yet. */
  draft(skill: string, contextId: string | undefined): Pick<Task, "id" | "contextId" | "skill">;
  read(id: string): Promise<Task | undefined>;
  /**
   * Stores a task: with a job, for as long as the job is kept; paid, for a day; unpaid, for 15 minutes. When unpaid
   * tasks would take more than 64 MB, the oldest of them are deleted earlier.
   */
  write(task: TaskHead, change: TaskChange): Promise<Task>;
  /** Claims a task for one payment, or for its cancellation. Returns false when another claim exists. Atomic. */
  claimPayment(id: string, claim: PaymentClaim): Promise<boolean>;
  /** Whether this is the current claim. */
  isClaimedFor(id: string, claim: PaymentClaim): Promise<boolean>;
  /** Whether this is the current claim, or a payment with the same `payment-identifier`. */
  isSamePurchase(id: string, claim: { readonly payment: string | object }): Promise<boolean>;
  /** The current claim. */
  claimed(id: string): Promise<PaymentClaim | undefined>;
  /**
   * The right to work on a task's payment; undefined while another request has it, in any process. It lapses with its
   * process, and while the store fails: nobody is charged twice then, because the payment itself is claimed, too.
   */
  takeTurn(id: string): Promise<Pick<Lease, "release"> | undefined>;
  /** Whether a request, in any process, has the turn. */
  isInTurn(id: string): Promise<boolean>;
  /** Withdraws the claim of a payment that was refused. */
  releasePayment(id: string, claim: PaymentClaim): Promise<void>;
}

/** The one payment of a task, as it arrived; null when the task is canceled. */
export interface PaymentClaim {
  readonly payment: string | object | null;
  /** The task that is paid for: after a crash, its own record may be forgotten as that of an unpaid one. */
  readonly task?: Task;
}

/** A task after a change at this time, in Unix milliseconds. */
export const toTask = ({ id, contextId, skill, history }: TaskHead, change: TaskChange, updatedAt: number): Task => ({
  ...change,
  id,
  contextId,
  skill,
  ...(history && { history }),
  updatedAt,
});

export interface TaskBookOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Default: 64 MB. */
  readonly mostUnpaidBytes?: number | undefined;
}

const MOST_UNPAID_BYTES = 64 * 1_048_576;
/** The size of a stored task besides its JSON, in bytes. */
const OVERHEAD_BYTES = 256;
const TURN = "a2a:turn:";
const UNPAID_MS = 15 * 60_000;
const PAID_MS = 24 * 60 * 60_000;

export function createTaskBook({ store, clock, mostUnpaidBytes = MOST_UNPAID_BYTES }: TaskBookOptions): TaskBook {
  const unpaid = createUnpaidTasks({ mostBytes: mostUnpaidBytes, lifeMs: UNPAID_MS, now: clock.now });
  const taskKey = (id: string): string => `a2a:task:${id}`;
  const claimKey = (id: string): string => `a2a:bond:${id}`;
  const claimed = (id: string): Promise<PaymentClaim | undefined> => store.get<PaymentClaim>(claimKey(id));
  const isClaimedFor = async (id: string, { payment }: PaymentClaim): Promise<boolean> => {
    const standing = await claimed(id);
    return standing !== undefined && isSame(toJson(standing.payment), toJson(payment));
  };
  /** Deletes tasks, except those that are being paid for. */
  const forget = async (ids: readonly string[]): Promise<void> => {
    for (const id of ids) if (!(await claimed(id))?.payment) await store.delete(taskKey(id), "lazy");
  };
  return {
    draft: (skill, contextId = crypto.randomUUID()) => ({ id: crypto.randomUUID(), contextId, skill }),
    read: async (id) => (await store.get<Task>(taskKey(id))) ?? (await claimed(id))?.task,
    async write(head, change) {
      const { id } = head;
      const task = toTask(head, change, clock.now());
      const isPaid = change.payment?.status === "payment-completed" || change.payment?.status === "payment-submitted";
      if (change.job || isPaid) {
        unpaid.drop(id);
        await store.set(taskKey(id), task, change.job ? JOB_KEEP_MS : PAID_MS);
      } else {
        await forget(unpaid.keep(id, Buffer.byteLength(JSON.stringify(task)) + OVERHEAD_BYTES));
        await store.set(taskKey(id), task, UNPAID_MS, "lazy");
      }
      return task;
    },
    async claimPayment(id, claim) {
      const keepMs = claim.payment === null ? UNPAID_MS : PAID_MS;
      return (await store.putIfAbsent(claimKey(id), claim, keepMs)) || isClaimedFor(id, claim);
    },
    isClaimedFor,
    async isSamePurchase(id, { payment }) {
      if (await isClaimedFor(id, { payment })) return true;
      const name = nameOf(payment);
      const standing = name === undefined ? undefined : (await claimed(id))?.payment;
      return standing ? nameOf(standing) === name : false;
    },
    claimed,
    async takeTurn(id) {
      const leases = createLeases({ store, prefix: TURN, onError: () => {} });
      let lease: Lease | undefined;
      try {
        lease = await leases.claim(id);
      } finally {
        if (!lease) leases.close();
      }
      return lease && { release: () => lease.release().finally(leases.close) };
    },
    isInTurn: async (id) => (await store.get(TURN + id)) !== undefined,
    async releasePayment(id, claim) {
      if (await isClaimedFor(id, claim)) await store.delete(claimKey(id));
    },
  };
}

/** A payment may hold what has no canonical form, such as half a surrogate pair in a text that its client has cut. */
const isSame = (one: unknown, other: unknown): boolean =>
  isSameJson(one, other) || JSON.stringify(one) === JSON.stringify(other);

/** A payment as JSON: the same payment may arrive as an object or as base64 text, with its keys in any order. */
const toJson = (payment: PaymentClaim["payment"]): unknown => payment && (parsePayment(payment) ?? payment);
