import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { EVM_ADDRESS } from "../account.ts";
import { unlessDamaged } from "../damage.ts";
import { isSameToken } from "../rails/tokens.ts";
import type { Store } from "../store.ts";
import { createLeases } from "../time/leases.ts";
import { type AttemptResult, type AttemptTerms, createSweeper } from "../time/sweeper.ts";
import type { JobPayment } from "../x402/x402.ts";
import { createRefundAttempt, type ScreenRecipient } from "./attempt.ts";
import type { RefundRail } from "./rail.ts";
import { createRefundRecords, type OpenRefund, type RefundCase } from "./records.ts";
import { createRestoreRefund, type FindSold } from "./restore.ts";

/** The refund's part of the status of a failed job, or of work that was paid for but not delivered. */
export interface RefundStatus {
  /** The transaction that has paid it back: an automatic one once it is in a block, one by hand once it is recorded. */
  readonly refund_tx: string | null;
  /** `manual`: the operator must act. */
  readonly refund_pending: "manual" | null;
}

/** The same, for those who tell buyers of it. */
export interface RefundState extends RefundStatus {
  /** Nothing is owed: a reorganisation has undone the payment for good. */
  readonly isUndone?: true;
}

/** What a buyer is told then. */
export const UNDONE = "A reorganisation of the chain has undone its payment for good: nothing is owed.";

/** Refunds failed jobs and undelivered work, each exactly once. */
export interface Refunds {
  /** Opens the refund of a job or of undelivered work. Idempotent. @throws Problem `unavailable`. */
  open(refund: RefundCase): Promise<void>;
  /** @param payment of a job that has failed: its refund is opened a moment after its end is recorded */
  status(id: string, payment?: JobPayment): Promise<RefundState>;
  /** Resumes refunds that this or another process left open, now and periodically. */
  start(): void;
  /** Resumes them once, now. */
  sweep(): void;
  /** Starts no more attempts, and waits for the running ones. */
  drain(): Promise<void>;
  /** Stops the work; open refunds stay on record. */
  close(): Promise<void>;
}

export interface RefundsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The rail of automatic refunds; when omitted, all refunds are manual. */
  readonly rail?: RefundRail | undefined;
  readonly screenRecipient: ScreenRecipient;
  readonly findSold?: FindSold | undefined;
  /** The delay after the first failed attempt; doubled for each further one. */
  readonly firstMs?: number;
  readonly sweepMs?: number;
  /** How long a transfer is watched for reorganisations before it counts as final. */
  readonly guardMs?: number;
  /** How long one attempt may take. */
  readonly attemptMs?: number;
  /** How long after the death of a process other processes may take over its refund. */
  readonly leaseMs?: number;
}

const LONGEST_WAIT_MS = 10 * 60_000;
/** A refund that is not paid after this long is logged as an error, and wants the seller. */
export const LATE_MS: number = 60 * 60_000;

export function createRefunds(deps: RefundsDeps): Refunds {
  const { store, clock, log, rail, screenRecipient, findSold = async () => undefined } = deps;
  const { firstMs = 2000, sweepMs = 60_000, guardMs = 60_000, attemptMs = 60_000, leaseMs } = deps;
  const records = createRefundRecords(store);
  const attempt = rail && createRefundAttempt({ records, rail, screenRecipient, clock, log, guardMs });
  const onError = (error: unknown): void => log.warn("refund.lease-failed", { error });
  const leases = createLeases({ store, prefix: "refund-lease:", onError, reclaims: true, leaseMs });
  const restore = createRestoreRefund({ store, records, leases, log, whyManual, findSold });
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
      const reason = whyManual(payment);
      const state = reason === null ? "pending" : "manual";
      const isNew = await records.open({ id, service, payment, openedAt: clock.now(), state, reason });
      if (isNew) log.info("refund.opened", { job: id, service, state, reason });
      if (state === "pending") sweeper.schedule(id);
    },
    async status(id, payment) {
      // Before `readEnd`: an end is recorded before the refund is removed.
      const refund = await records.read(id).catch((error: unknown) => unlessDamaged(error) ?? DAMAGED);
      const end = await records.readEnd(id);
      const isManual = refund ? refund.state === "manual" : payment !== undefined && whyManual(payment) !== null;
      return {
        refund_tx: end?.transaction || (refund?.held?.transaction ?? null),
        refund_pending: !end && isManual ? "manual" : null,
        ...(end?.transaction === null && { isUndone: true as const }),
      };
    },
    start: sweeper.start,
    sweep: sweeper.sweep,
    drain: sweeper.drain,
    async close() {
      await sweeper.close();
      leases.close();
    },
  };

  /** Why a payment is refunded by hand; null when that is done automatically. */
  function whyManual(payment: JobPayment): OpenRefund["reason"] {
    return isPaidOn(rail, payment) ? whyUnpayable(payment) : whyByHand(rail, payment);
  }

  async function* list(): AsyncGenerator<string> {
    const damaged: string[] = [];
    for await (const { id, state } of records.list((id) => damaged.push(id))) if (state === "pending") yield id;
    for (const id of damaged) if (await restore(id).catch(onError)) yield id;
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
      // The rail's token may have changed since: a payment in another token cannot be refunded on this rail.
      if (!attempt || !isPaidOn(rail, refund.payment)) return await conclude(refund);
      return (await attempt(refund, bounded, signal)) === "over" ? "done" : { retryInMs: guardMs };
    } catch (error) {
      const isUnexplained = bounded.aborted && Problem.from(error).code !== "unavailable";
      if (!signal.aborted) await note(id, isUnexplained ? tooLate(error) : error, retryMs).catch(() => {});
      return "retry";
    }
  }

  /** Without the chain, a transfer that was seen on it counts as final after the usual time. @throws Problem where none was. */
  async function conclude({ held, ...refund }: OpenRefund): Promise<AttemptResult> {
    if (!held) {
      const way = await records.readWay(refund.id);
      throw new Problem("unavailable", way && "signed" in way ? `${NO_MORE}. ${SIGNED}` : NO_MORE);
    }
    const now = clock.now();
    if (now < held.at) await records.update({ ...refund, held: { ...held, at: now } }); // The clock was set back.
    if (now - held.at < guardMs) return { retryInMs: guardMs };
    await records.end(refund, { transaction: held.transaction, at: now });
    return "done";
  }

  /** Records for the operator why the refund is not paid yet, unless another process has taken it over. */
  async function note(id: string, error: unknown, retryMs: number): Promise<void> {
    const reason = Problem.from(error).message;
    const refund = await records.read(id);
    if (!refund) return;
    const isLate = clock.now() - refund.openedAt > LATE_MS;
    log[isLate ? "error" : "warn"]("refund.delayed", { job: id, service: refund.service, retryMs, error });
    if (refund.reason !== reason && leases.holds(id)) await records.update({ ...refund, reason });
  }
}

/** Stands for a damaged refund, until that is restored or the operator acts. */
const DAMAGED: Pick<OpenRefund, "state" | "held"> = { state: "manual" };

const NO_MORE = "This site does not make refunds in this token any more";

const SIGNED =
  "Its transfer is signed, and may be on the chain: do not pay it by hand, but set `refunds` as it was, so that it is found or sent";

const tooLate = (cause: unknown): Problem =>
  new Problem("upstream-failed", "The transfer was not completed in time", { cause });

const isPaidOn = (rail: RefundRail | undefined, payment: JobPayment): boolean =>
  rail !== undefined && isSameToken(rail, payment);

const whyByHand = (rail: RefundRail | undefined, { network }: JobPayment): string =>
  rail
    ? `Payments ${network === rail.network ? "in this token" : "on this network"} are paid back by hand`
    : "_site.yaml has no `refunds`, so everything is paid back by hand";

/** Why the payment cannot be refunded automatically; null when the payer is known. */
const whyUnpayable = ({ payer }: JobPayment): OpenRefund["reason"] =>
  payer !== null && EVM_ADDRESS.test(payer) ? null : "The facilitator did not say who has paid";
