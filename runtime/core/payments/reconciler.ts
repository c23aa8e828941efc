import type { Clock, Log } from "../../api/capabilities.ts";
import type { Jobs } from "../jobs/jobs.ts";
import type { Credits } from "./credits.ts";
import { type PaymentRecord, type Reservations, toJobPayment, UNATTENDED_MS } from "./reservations.ts";
import type { Settlement, Settler } from "./settlement.ts";

/** Brings every payment to its end, without ever asking the payer for another one. */
export interface Reconciler {
  /** One attempt: asks the chain, and the facilitator again while the authorization lives. To be called under the payment's lease. */
  conclude(key: string, record: PaymentRecord): Promise<PaymentRecord>;
  /**
   * Puts the outcome of a settlement on record, lets its job begin, and gives back what may be told of it. That it is
   * settled can be told at once, since the chain remembers it; that it was refused, only when it is on record.
   */
  conclusionOf(key: string, record: PaymentRecord, settlement: Settlement, keepMs?: number): Promise<PaymentRecord>;
  /** Keeps trying in the background until nothing is left to be done. */
  watch(key: string): void;
  /** Takes up what this or another process has left behind, now and once a minute. */
  start(): void;
  close(): void;
}

export interface ReconcilerDeps {
  readonly reservations: Reservations;
  readonly settler: Settler;
  readonly credits: Credits;
  readonly clock: Clock;
  readonly log: Log;
  /** Lets a job begin whose payment is settled; may be asked more than once. */
  readonly beginJob: Jobs["begin"];
  /** Told of a facilitator that reports a settlement which the chain does not show, and when the chain shows it after all. */
  readonly onClaim: (key: string, record: PaymentRecord, isTrue: boolean) => void;
  readonly firstMs?: number;
  readonly sweepMs?: number;
  /** After how long a settlement that stands on the facilitator's word is looked up. */
  readonly confirmAfterMs?: number;
  /** How long after a reported settlement the chain must show it. */
  readonly claimMs?: number;
}

/** An authorization must be valid for at least this long when it is settled (x402 `exact` on EVM). */
export const SETTLE_MARGIN_SECONDS = 6;
const LONGEST_WAIT_MS = 60_000;
/** How many payments are worked on in the background at once: after an outage there may be thousands. */
const MOST_AT_ONCE = 16;

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { reservations, settler, credits, clock, log, beginJob, onClaim } = deps;
  const { firstMs = 2000, sweepMs = 60_000, confirmAfterMs = 5000, claimMs = 60_000 } = deps;
  const timers = new Map<string, NodeJS.Timeout>();
  /** Since when the chain lacks what a facilitator has reported, by payment: Unix milliseconds. */
  const claims = new Map<string, number>();
  const closing = new AbortController();
  let sweeping: NodeJS.Timeout | undefined;
  let running = 0;

  return {
    conclude,
    conclusionOf,
    watch: (key) => schedule(key, firstMs),
    start: () => void sweep(),
    close() {
      closing.abort();
      clearTimeout(sweeping);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };

  async function conclude(key: string, record: PaymentRecord, keepMs?: number): Promise<PaymentRecord> {
    const { payment, validBefore } = record;
    const seen = await settler.look(payment, payment.accepted);
    if (seen.state !== "unknown") return conclusionOf(key, record, seen, keepMs);
    const isAlive = validBefore === undefined || validBefore - SETTLE_MARGIN_SECONDS > clock.now() / 1000;
    return isAlive ? conclusionOf(key, ...(await settleAgain(key, record)), keepMs) : record;
  }

  /** A payment that was refused is unsettled; from this attempt on, it may be settled after all. */
  async function settleAgain(key: string, record: PaymentRecord): Promise<[PaymentRecord, Settlement]> {
    const { payment, state } = record;
    const isAgain = state === "settling";
    const open: PaymentRecord = isAgain ? record : { ...record, state: "settling" };
    if (!isAgain) await reservations.update(key, open);
    return [open, await settler.settle(payment, payment.accepted, { isAgain, mustConfirm: true })];
  }

  async function conclusionOf(
    key: string,
    record: PaymentRecord,
    settlement: Settlement,
    keepMs?: number,
  ): Promise<PaymentRecord> {
    const { state, receipt, isFinal } = settlement;
    hold(key, record, settlement);
    if (state === "unknown") return { ...record, state: "settling" };
    const settledAt = state === "settled" && { settledAt: clock.now() };
    const next: PaymentRecord = { ...record, state, receipt, isFinal, ...settledAt };
    if (state === "settled" && !(await letBegin(next))) return { ...record, state: "settling" };
    const written = reservations
      .update(key, next, keepMs)
      .then(async () => {
        if (!isFinal || isOwed(next)) schedule(key, isFinal ? firstMs : confirmAfterMs);
        else await reservations.strike(key);
        return next;
      })
      .catch((error: unknown): PaymentRecord => {
        log.error("payment.update-failed", { error });
        return { ...record, state: "settling" };
      });
    return state === "settled" ? next : written;
  }

  /** Holds what a facilitator has reported against what the chain shows. */
  function hold(key: string, record: PaymentRecord, { state, isFinal, isClaimed }: Settlement): void {
    if (isClaimed) claims.set(key, claims.get(key) ?? record.settledAt ?? clock.now());
    const since = claims.get(key);
    if (since === undefined) return;
    if (state === "settled" && isFinal) {
      claims.delete(key);
      onClaim(key, record, true);
    } else if (state === "rejected" || clock.now() - since >= claimMs) onClaim(key, record, false);
  }

  /** False when a job could not be let begin: that is as if its settlement were not known yet, and is tried again. */
  async function letBegin(record: PaymentRecord): Promise<boolean> {
    const { job } = record;
    if (job === undefined) return true;
    return beginJob(job, toJobPayment(record)).then(
      () => true,
      (error: unknown) => {
        log.error("job.begin-failed", { job, error });
        return false;
      },
    );
  }

  function schedule(key: string, waitMs: number): void {
    if (closing.signal.aborted || timers.has(key)) return;
    const again = (nextMs: number): void => {
      timers.delete(key);
      schedule(key, nextMs);
    };
    const attempt = async (): Promise<void> => {
      if (running >= MOST_AT_ONCE) return again(waitMs);
      running += 1;
      const isOver = await tryOnce(key).catch(() => false); // The store is away; `sweep` says so, once for all of them.
      running -= 1;
      if (isOver) timers.delete(key);
      else again(Math.min(waitMs * 2, LONGEST_WAIT_MS));
    };
    timers.set(key, setTimeout(() => void attempt(), waitMs).unref());
  }

  /** True when nothing is left to be done. */
  async function tryOnce(key: string): Promise<boolean> {
    const record = await reservations.read(key);
    const isOver = !record || (await isEnded(key, record)) || (await advance(key));
    if (isOver) await reservations.strike(key);
    return isOver;
  }

  /** Whether a payment has its end, and the chain shows it. */
  async function isEnded(key: string, record: PaymentRecord): Promise<boolean> {
    if (isOwed(record) || record.state === "settling") return false;
    if (record.isFinal || record.state === "rejected") return record.isFinal === true;
    const seen = await settler.look(record.payment, record.payment.accepted);
    hold(key, record, { ...seen, isClaimed: seen.isReadable === true });
    return seen.state === "settled";
  }

  /** One step under the payment's lease; true when it was the last. */
  async function advance(key: string): Promise<boolean> {
    const lease = await reservations.claimPayment(key);
    if (!lease) return false;
    try {
      const record = await reservations.read(key);
      if (!record || (record.state === "settled" && !isOwed(record))) return false; // The next look ends it.
      const next = await step(key, record);
      const { service, payment } = record;
      if (next.state !== record.state)
        log.info("settlement.concluded", { service, network: payment.accepted.network, state: next.state });
      return next.state !== "settling" && next.isFinal === true && !isOwed(next);
    } finally {
      await lease.release();
    }
  }

  async function step(key: string, record: PaymentRecord): Promise<PaymentRecord> {
    if (isOwed(record)) return credits.deliver(key, record, closing.signal);
    if (record.state === "settling") return conclude(key, record, UNATTENDED_MS);
    // A payment that was refused may move all the same while it is valid. It is not settled again unless its payer asks.
    const seen = await settler.look(record.payment, record.payment.accepted);
    return seen.state === "unknown" ? record : conclusionOf(key, record, seen, UNATTENDED_MS);
  }

  async function sweep(): Promise<void> {
    try {
      for await (const key of reservations.open()) schedule(key, firstMs);
    } catch (error) {
      log.error("settlement.sweep-failed", { error });
    }
    if (!closing.signal.aborted) sweeping = setTimeout(() => void sweep(), sweepMs).unref();
  }
}

/** Whether work is to be delivered for a settled payment. */
const isOwed = ({ state, owed }: PaymentRecord): boolean =>
  state === "settled" && owed !== undefined && !owed.isPaidBack;
