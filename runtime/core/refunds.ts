import type { JobPayment } from "./job-records.ts";

/** What becomes of the payment of a job that has failed (specification, section 3, rules 2 and 3). */
export interface RefundStatus {
  /** The USDC transfer on Base, once it is in a block. */
  readonly refund_tx: string | null;
  /** `manual`: somebody has to see to it. */
  readonly refund_pending: "manual" | null;
}

/** A failed job that was paid for. */
export interface RefundCase {
  /** The job's id. */
  readonly id: string;
  readonly service: string;
  readonly payment: JobPayment;
}

/** Pays failed jobs back: each once, whatever happens. */
export interface Refunds {
  /** Sees to the refund of a job. Doing it again changes nothing. @throws Problem `unavailable` when it could not be put on record. */
  open(refund: RefundCase): Promise<void>;
  status(id: string): Promise<RefundStatus>;
}
