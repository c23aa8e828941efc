import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { MAY_PASS } from "../jobs/jobs.ts";
import type { JobRecords } from "../jobs/records.ts";
import { createSteps } from "../jobs/steps.ts";
import { performKept } from "../perform.ts";
import { type RefundState, type Refunds, UNDONE } from "../refunds/refunds.ts";
import type { Service } from "../service.ts";
import { runsOnce } from "../set/manifest.ts";
import { payerOf } from "./purchase.ts";
import { type Owed, type PaymentRecord, toJobPayment } from "./record.ts";
import type { Reservations } from "./reservations.ts";
import type { Trials } from "./trials.ts";

/**
 * Work that was paid for before it was done. Until the work is delivered, the payment is a credit: the work is retried,
 * by the payer's next request or in the background, and refunded when it cannot be delivered in time.
 */
export interface Credits {
  /**
   * Runs the work once, or opens the refund when it is too late. Call it under the payment's lease, with a settled
   * record. Work that must not be repeated is refunded as soon as it may have been done without a result. Returns the
   * updated record. @throws Problem `unavailable` when the store cannot be reached.
   * @param keepMs how long a delivered answer is kept at least, see `Reservations.update`
   */
  deliver(key: string, record: PaymentRecord, signal: AbortSignal, keepMs?: number): Promise<PaymentRecord>;
  /** The Problem `paid-not-delivered` for the payer while nothing is delivered, with the receipt. */
  explain(record: PaymentRecord): Promise<Problem>;
}

export interface CreditsDeps {
  readonly services: readonly Service[];
  readonly reservations: Reservations;
  /** Stores the steps of the work, in the same way as those of jobs. */
  readonly records: Pick<JobRecords, "note" | "readStep" | "keepStep">;
  readonly refunds: Pick<Refunds, "open" | "status">;
  /** Told of delivered and failed work. */
  readonly trials: Pick<Trials, "delivered" | "failed">;
  readonly clock: Clock;
  readonly log: Log;
}

/** How long after the settlement delivery is attempted. */
const CREDIT_MS = 10 * 60_000;
/** The most runs for one payment. */
const MOST_RUNS = 25;
/** How long a step that has begun may go on after its run has ended. */
const STEP_GRACE_MS = 5000;
const RETRY_SECONDS = 5;
const INTERRUPTED = "The work was interrupted, and repeating it could do it twice";

function toRefundText({ refund_tx, refund_pending, isUndone }: RefundState): string {
  if (isUndone) return UNDONE;
  if (refund_tx !== null) return `It was paid back in ${refund_tx}.`;
  return refund_pending === "manual" ? "It has to be paid back by hand." : "It is being paid back.";
}

const buyerOf = ({ payer, payment }: PaymentRecord): string | undefined => payer && payerOf(payer, payment.accepted);

export function createCredits(deps: CreditsDeps): Credits {
  const { services, reservations, records, refunds, trials, clock, log } = deps;
  const byId = new Map(services.map((service) => [service.manifest.id, service]));
  /** The work that is marked as begun, of which this process knows that nothing was done: the store refused to record it. */
  const refused = new Set<string>();

  return {
    async deliver(key, record, signal, keepMs) {
      const { owed } = record;
      if (!owed || owed.isPaidBack) return record;
      const end = await reservations.readEnd(key);
      if (end?.state === "delivered") return keep(key, record, end.output, keepMs);
      const ageMs = clock.now() - (record.settledAt ?? clock.now());
      const isOver = owed.failures >= MOST_RUNS || ageMs >= CREDIT_MS;
      if (end || isOver) return payBack(key, record, owed);
      const service = byId.get(record.service);
      if (!service) return record; // Another process of this shop may still offer it.
      const isOnce = runsOnce(service.manifest);
      if (isOnce && owed.isBegun && !refused.has(key))
        return payBack(key, record, { ...owed, reason: owed.reason ?? INTERRUPTED });
      if (isOnce && !(await begin(key, record, owed))) return record;
      const outcome = await run(service, record, owed, signal);
      if (!("problem" in outcome)) {
        trials.delivered(record.service, buyerOf(record));
        const counts = await reservations.end(key, { state: "delivered", output: outcome.output });
        return counts.state === "delivered" ? keep(key, record, counts.output, keepMs) : payBack(key, record, owed);
      }
      if (signal.aborted) return record;
      if (owed.failures === 0) trials.failed(record.service, buyerOf(record)); // Retries of one payment count once.
      const { code, message, options } = outcome.problem;
      log.warn("credit.run-failed", { service: record.service, code, error: options.cause ?? outcome.problem });
      const next: Owed = { ...owed, failures: owed.failures + 1, reason: message };
      const mayPass = isOnce ? code === "unavailable" : MAY_PASS.includes(code); // `unavailable`: nothing was done.
      if (!mayPass) return payBack(key, record, next);
      if (isOnce) await reservations.undoOnce(key).catch((error: unknown) => doAgain(key, error));
      return write(key, { ...record, owed: next });
    },

    async explain({ owed, receipt }) {
      const open = owed?.isPaidBack ? "its work was not done in time" : "its work is not done yet";
      const why = owed?.reason ? `the service failed: ${owed.reason.replace(/\.$/, "")}` : open;
      const refund = owed?.isPaidBack ? await readRefund(owed.id) : undefined;
      const members = refund && { refund_tx: refund.refund_tx, refund_pending: refund.refund_pending };
      const detail = refund
        ? `The payment was settled, and ${why}. ${toRefundText(refund)}`
        : `The payment was settled, and ${why}. Repeat this request with the same payment, at no further charge; what cannot be delivered within ${CREDIT_MS / 60_000} minutes is paid back.`;
      return new Problem("paid-not-delivered", detail, {
        ...(members ? { members } : { retryAfter: RETRY_SECONDS }),
        ...(receipt && { receipt }),
      });
    },
  };

  /** Undefined when it cannot be read: the payer must be told of the payment in any case. */
  function readRefund(id: string): Promise<RefundState | undefined> {
    return refunds.status(id).catch((error: unknown) => {
      log.error("credit.refund-not-read", { refund: id, error });
      return undefined;
    });
  }

  /** Records that work begins which must not be repeated; false where another process may be at work on it. */
  async function begin(key: string, record: PaymentRecord, owed: Owed): Promise<boolean> {
    const isFirst = await reservations.beginOnce(key);
    if (!refused.delete(key) && !isFirst) return false;
    await write(key, { ...record, owed: { ...owed, isBegun: true } }).catch((error: unknown) => doAgain(key, error));
    return true;
  }

  /** The mark stays, or the record: so that no other process begins the work. */
  function doAgain(key: string, error: unknown): never {
    refused.add(key);
    throw error;
  }

  async function run(
    service: Service,
    { payer, payment }: PaymentRecord,
    { id, input }: Owed,
    signal: AbortSignal,
  ): Promise<{ readonly output: unknown } | { readonly problem: Problem }> {
    const steps = createSteps(id, { records, log, graceMs: STEP_GRACE_MS });
    const call = { id, signal, payer, network: payment.accepted.network, ...steps.lent };
    const outcome = await performKept(service, input, call).then(
      (output) => ({ output }),
      (error: unknown) => ({ problem: Problem.from(error) }),
    );
    await steps.end();
    return outcome;
  }

  function keep(
    key: string,
    { owed: _, ...record }: PaymentRecord,
    output: unknown,
    keepMs?: number,
  ): Promise<PaymentRecord> {
    return write(key, { ...record, output }, keepMs);
  }

  /** Records the end before opening the refund: nothing can be delivered after that. */
  async function payBack(key: string, record: PaymentRecord, owed: Owed): Promise<PaymentRecord> {
    refused.delete(key);
    const counts = await reservations.end(key, { state: "paid-back" });
    if (counts.state === "delivered") return keep(key, record, counts.output);
    await refunds.open({ id: owed.id, service: record.service, payment: toJobPayment(record) });
    log.warn("credit.paid-back", { service: record.service, refund: owed.id, reason: owed.reason });
    return write(key, { ...record, owed: { ...owed, isPaidBack: true } });
  }

  async function write(key: string, record: PaymentRecord, keepMs?: number): Promise<PaymentRecord> {
    await reservations.update(key, record, keepMs);
    return record;
  }
}
