import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createLeases } from "../leases.ts";
import type { Store } from "../store.ts";
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
/** After an outage there may be thousands. */
const MOST_AT_ONCE = 16;
/** From then on, a refund that is still not paid is an operator's business. */
const LATE_MS = 60 * 60_000;

export function createRefunds(deps: RefundsDeps): Refunds {
  const { store, clock, log, rail, screenRecipient } = deps;
  const { firstMs = 2000, sweepMs = 60_000, guardMs = 60_000, attemptMs = 60_000, leaseMs } = deps;
  const records = createRefundRecords(store);
  const attempt = rail && createRefundAttempt({ records, rail, screenRecipient, clock, log, guardMs });
  const onError = (error: unknown): void => log.warn("refund.lease-failed", { error });
  const leases = createLeases({ store, prefix: "refund-lease:", onError, leaseMs });
  const closing = new AbortController();
  const timers = new Map<string, NodeJS.Timeout>();
  const running = new Set<Promise<unknown>>();
  let sweeping: NodeJS.Timeout | undefined;

  return {
    async open({ id, service, payment }) {
      const isOnRail = isPaidOn(rail, payment);
      const reason = isOnRail ? whyUnpayable(payment) : whyByHand(rail, payment);
      const state = reason === null ? "pending" : "manual";
      const isNew = await records.open({ id, service, payment, openedAt: clock.now(), isOnRail, state, reason });
      if (isNew) log.info("refund.opened", { job: id, service, state, reason });
      if (state === "pending") schedule(id, 0);
    },
    async status(id) {
      const refund = await records.read(id); // First, since an end is put on record before it goes.
      const end = await records.readEnd(id);
      return {
        refund_tx: end?.refund_tx ?? refund?.held?.transaction ?? null,
        refund_pending: !end && refund?.state === "manual" ? "manual" : null,
      };
    },
    start: () => void sweep(),
    async close() {
      closing.abort(new Problem("unavailable", "The service is shutting down"));
      clearTimeout(sweeping);
      for (const timer of timers.values()) clearTimeout(timer);
      await Promise.all(running);
      leases.close();
    },
  };

  function schedule(id: string, waitMs: number, nextMs = firstMs): void {
    if (closing.signal.aborted || timers.has(id)) return;
    const again = (thisMs: number, thenMs: number): void => {
      timers.delete(id);
      schedule(id, thisMs, thenMs);
    };
    const look = async (): Promise<void> => {
      if (running.size >= MOST_AT_ONCE) return again(firstMs, nextMs);
      const work = tryOnce(id, nextMs);
      running.add(work);
      const result = await work;
      running.delete(work);
      if (result === "over") timers.delete(id);
      else if (result === "held") again(guardMs, firstMs);
      else again(nextMs, Math.min(nextMs * 2, LONGEST_WAIT_MS));
    };
    timers.set(id, setTimeout(() => void look(), waitMs).unref());
  }

  /** Never rejects. */
  async function tryOnce(id: string, nextMs: number): Promise<"over" | "held" | "again"> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(attemptMs)]);
    const lease = await leases.claim(id).catch(() => undefined); // The store is away; it is told by all.
    if (!lease) return "again"; // Another process sees to it, as long as it lives.
    try {
      const refund = await records.read(id);
      if (refund?.state !== "pending") return "over";
      // A rail has decimals and contracts of its own: what was paid on an earlier one is none of the new one's.
      if (!attempt || !isPaidOn(rail, refund.payment)) throw new Problem("unavailable", NO_MORE);
      return await attempt(refund, signal);
    } catch (error) {
      if (closing.signal.aborted) return "over";
      await note(id, signal.aborted ? tooLate(error) : error, nextMs).catch(() => {});
      return "again";
    } finally {
      await lease.release().catch(onError);
    }
  }

  /** Leaves word for the operator why it is not paid yet; what another process has found out meanwhile stands. */
  async function note(id: string, error: unknown, retryMs: number): Promise<void> {
    const reason = Problem.from(error).message;
    const refund = await records.read(id);
    if (!refund) return;
    const isLate = clock.now() - refund.openedAt > LATE_MS;
    log[isLate ? "error" : "warn"]("refund.delayed", { job: id, service: refund.service, retryMs, error });
    if (refund.reason !== reason && leases.holds(id)) await records.update({ ...refund, reason });
  }

  async function sweep(): Promise<void> {
    try {
      for await (const { id, state } of records.list()) if (state === "pending") schedule(id, 0);
    } catch (error) {
      log.error("refund.sweep-failed", { error });
    }
    if (!closing.signal.aborted) sweeping = setTimeout(() => void sweep(), sweepMs).unref();
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
