import { createJobFailures } from "../../core/jobs/failures.ts";
import type { QueuedJob } from "../../core/jobs/queue.ts";
import { createJobRecords } from "../../core/jobs/records.ts";
import { createRefundRecords, type OpenRefund } from "../../core/refunds/records.ts";
import type { Store } from "../../core/store.ts";
import type { JobView } from "../../surfaces/pages/seller/job.ts";
import type { JobsState } from "../../surfaces/pages/seller/jobs.ts";
import type { SoldSet } from "./state.ts";

/** The jobs of the seller's pages. */
export interface JobDesk {
  /** @throws Problem `unavailable`. */
  overview(sold: Pick<SoldSet, "jobsInLine" | "jobsWaiting">): Promise<JobsState>;
  /** Undefined for an unknown job. @throws Problem `unavailable`. */
  read(id: string): Promise<JobView | undefined>;
}

/** With these the page stays below 100 kB, as every page is to. */
const MOST_REFUNDS = 100;
const MOST_FAILED = 50;
const MOST_WAITING = 50;

/** Whether a text can name a job or owed work: one from a URL or an altered sale may be no key of the store. */
export const isWorkId = (id: string): boolean => /^[\w-]{1,64}$/.test(id);

export function createJobDesk(store: Store): JobDesk {
  const records = createJobRecords({ store, clock: { now: Date.now } });
  const failures = createJobFailures(store);
  const refunds = createRefundRecords(store);

  return {
    async overview({ jobsInLine, jobsWaiting }) {
      const [inLine, waiting, failed, owed] = await Promise.all([
        jobsInLine(),
        jobsWaiting(MOST_WAITING),
        failures.list(MOST_FAILED),
        listRefunds(),
      ]);
      return {
        inLine,
        waiting: await Promise.all(waiting.slice(0, MOST_WAITING).map(withStep)),
        failed,
        refunds: owed.slice(0, MOST_REFUNDS),
        hasMoreRefunds: owed.length > MOST_REFUNDS,
      };
    },
    async read(id) {
      const record = isWorkId(id) ? await records.read(id) : undefined;
      if (!record) return undefined;
      const [steps, progress, end, refund, refundEnd] = await Promise.all([
        records.steps(id),
        records.progress(id),
        records.readEnd(id),
        refunds.read(id),
        refunds.readEnd(id),
      ]);
      const paidBack = { refund_tx: refundEnd?.transaction || (refund?.held?.transaction ?? null) };
      const isManual = !refundEnd && refund?.state === "manual";
      return { record, steps, progress, end, refund: { ...paidBack, refund_pending: isManual ? "manual" : null } };
    },
  };

  async function withStep(job: QueuedJob): Promise<JobsState["waiting"][number]> {
    const progress = await records.progress(job.id);
    return progress ? { ...job, step: progress.step } : job;
  }

  /** One more than are shown, where there are more. */
  async function listRefunds(): Promise<readonly OpenRefund[]> {
    const open: OpenRefund[] = [];
    for await (const refund of refunds.list()) {
      open.push(refund);
      if (open.length > MOST_REFUNDS) break;
    }
    return open;
  }
}
