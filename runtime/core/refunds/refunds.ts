import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createLeases } from "../leases.ts";
import type { Store } from "../store.ts";
import { type AttemptResult, type AttemptTerms, createSweeper } from "../sweeper.ts";
import type { JobPayment } from "../x402/x402.ts";
import { createRefundAttempt, type ScreenRecipient } from "./attempt.ts";
import type { RefundRail } from "./rail.ts";
import { createRefundRecords, type OpenRefund, type RefundCase } from "./records.ts";

/** What becomes of the payment of a job that has failed (specification, section 3, rules 2 and 3). */
export interface RefundStatus {
  /** The USDC transfer on Base, once it is in a block. */
  readonly refund_tx: string | null;
  /** `manual`: somebody has to see to it. */
  readonly refund_pending: "manual" | null;
}

/** Pays failed jobs back: each once, whatever happens. */
export interface Refunds {
  /** Sees to the refund of a job. Doing it again changes nothing. @throws Problem `unavailable` when it could not be put on record. */
  open(refund: RefundCase): Promise<void>;
  status(id: string): Promise<RefundStatus>;
  /** Takes up what this or another process has left open, now and once in a while. */
  start(): void;
  /** Begins no more attempts, and waits for the end of the running ones. */
  drain(): Promise<void>;
  /** Ends the work; what is open stays on record. */
  close(): Promise<void>;
}

export interface RefundsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Where refunds are made automatically; without it all are manual. */
  readonly rail?: RefundRail | undefined;
  readonly screenRecipient: ScreenRecipient;
  /** After the first attempt that failed; doubled for each further one. */
  readonly firstMs?: number;
  readonly sweepMs?: number;
  /** How long a transfer is watched before it counts as there to stay. */
  readonly guardMs?: number;
  /** How long one attempt may take. */
  readonly attemptMs?: number;
  /** How long after its process died a refund is free for others. */
  readonly leaseMs?: number;
}

const LONGEST_WAIT_MS = 10 * 60_000;
/** A refund that is not paid after this long is logged as an error. */
const LATE_MS = 60 * 60_000;

export function createRefunds(deps: RefundsDeps): Refunds {
  const { store, clock, log, rail, screenRecipient } = deps;
  const { firstMs = 2000, sweepMs = 60_000, guardMs = 60_000, attemptMs = 60_000, leaseMs } = deps;
  const records = createRefundRecords(store);
  const attempt = rail && createRefundAttempt({ records, rail, screenRecipient, clock, log, guardMs });
  const onError = (error: unknown): void => log.warn("refund.lease-failed", { error });
  const leases = createLeases({ store, prefix: "refund-lease:", onError, reclaims: true, leaseMs });
  const sweeper = createSweeper<OpenRefund>({
    list,
    read: readPending,
    claim: leases.claim,
    attempt: attemptOnce,
    onError,
    onOutage: (error) => log.error("refund.sweep-failed", { error }),
    firstMs,
    longestMs: LONGEST_WAIT_MS,
    sweepMs,
  });

  return {
    async open({ id, service, payment }) {
      const isOnRail = isPaidOn(rail, payment);
      const reason = isOnRail ? whyUnpayable(payment) : whyByHand(rail, payment);
      const state = reason === null ? "pending" : "manual";
      const isNew = await records.open({ id, service, payment, openedAt: clock.now(), isOnRail, state, reason });
      if (isNew) log.info("refund.opened", { job: id, service, state, reason });
      if (state === "pending") sweeper.schedule(id);
    },
    async status(id) {
      const refund = await records.read(id); // First, since an end is put on record before it goes.
      const end = await records.readEnd(id);
      return {
        refund_tx: end?.refund_tx ?? refund?.held?.transaction ?? null,
        refund_pending: !end && refund?.state === "manual" ? "manual" : null,
      };
    },
    start: sweeper.start,
    drain: sweeper.drain,
    async close() {
      await sweeper.close();
      leases.close();
    },
  };

  async function* list(): AsyncGenerator<string> {
    for await (const { id, state } of records.list()) if (state === "pending") yield id;
  }

  async function readPending(id: string): Promise<OpenRefund | undefined> {
    const refund = await records.read(id);
    return refund?.state === "pending" ? refund : undefined;
  }

  async function attemptOnce(
    id: string,
    refund: OpenRefund,
    { signal, retryMs }: AttemptTerms,
  ): Promise<AttemptResult> {
    const bounded = AbortSignal.any([signal, AbortSignal.timeout(attemptMs)]);
    try {
      // A rail has decimals and contracts of its own: what was paid on an earlier rail is not refunded on this one.
      if (!attempt || !isPaidOn(rail, refund.payment)) throw new Problem("unavailable", NO_MORE);
      return (await attempt(refund, bounded)) === "over" ? "done" : { retryInMs: guardMs };
    } catch (error) {
      if (!signal.aborted) await note(id, bounded.aborted ? tooLate(error) : error, retryMs).catch(() => {});
      return "retry";
    }
  }

  /** Writes down for the operator why the refund is not paid yet, unless another process has changed it meanwhile. */
  async function note(id: string, error: unknown, retryMs: number): Promise<void> {
    const reason = Problem.from(error).message;
    const refund = await records.read(id);
    if (!refund) return;
    const isLate = clock.now() - refund.openedAt > LATE_MS;
    log[isLate ? "error" : "warn"]("refund.delayed", { job: id, service: refund.service, retryMs, error });
    if (refund.reason !== reason && leases.holds(id)) await records.update({ ...refund, reason });
  }
}

const NO_MORE = "This site does not make refunds in this token any more";

const tooLate = (cause: unknown): Problem =>
  new Problem("upstream-failed", "The transfer did not come about in time", { cause });

const isPaidOn = (rail: RefundRail | undefined, { network, asset }: JobPayment): boolean =>
  network === rail?.network && asset.toLowerCase() === rail.asset.toLowerCase();

const whyByHand = (rail: RefundRail | undefined, { network }: JobPayment): string =>
  `Payments ${network === rail?.network ? "in this token" : "on this network"} are paid back by hand`;

/** Null when there is a payer who can be paid back. */
const whyUnpayable = ({ payer }: JobPayment): OpenRefund["reason"] =>
  payer !== null && /^0x[0-9a-fA-F]{40}$/.test(payer) ? null : "The facilitator did not say who has paid";
