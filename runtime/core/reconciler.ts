import type { Clock, Log } from "../api/capabilities.ts";
import type { PaymentRecord, Reservations } from "./reservations.ts";
import type { Settlement, Settler } from "./settlement.ts";

/** Brings every settlement whose outcome is unknown to an end, without ever asking the payer for another payment. */
export interface Reconciler {
  /** One attempt: asks the chain, and the facilitator again while the authorization lives. To be called under the payment's lease. */
  conclude(key: string, record: PaymentRecord): Promise<PaymentRecord>;
  /** Keeps trying in the background until the outcome is known. */
  watch(key: string): void;
  /** Takes up what this or another process has left behind, now and once a minute. */
  start(): void;
  close(): void;
}

export interface ReconcilerDeps {
  readonly reservations: Reservations;
  readonly settler: Settler;
  readonly clock: Clock;
  readonly log: Log;
  readonly firstMs?: number;
  readonly sweepMs?: number;
}

/** An authorization must be valid for at least this long when it is settled (x402 `exact` on EVM). */
export const SETTLE_MARGIN_SECONDS = 6;
const LONGEST_WAIT_MS = 60_000;

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { reservations, settler, clock, log, firstMs = 2000, sweepMs = 60_000 } = deps;
  const timers = new Map<string, NodeJS.Timeout>();
  let sweeping: NodeJS.Timeout | undefined;
  let closed = false;

  return {
    conclude,
    watch: (key) => schedule(key, firstMs),
    start: () => void sweep(),
    close() {
      closed = true;
      clearTimeout(sweeping);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };

  async function conclude(key: string, record: PaymentRecord): Promise<PaymentRecord> {
    const { payment, offer } = record;
    const seen = await settler.look(payment, offer);
    const alive = record.validBefore === undefined || record.validBefore - SETTLE_MARGIN_SECONDS > clock.now() / 1000;
    const settlement = seen.state === "unknown" && alive ? await settler.settle(payment, offer) : seen;
    const next = concluded(record, settlement);
    await reservations.update(key, next);
    log.info("settlement.concluded", { service: record.service, network: offer.network, state: next.state });
    return next;
  }

  function schedule(key: string, waitMs: number): void {
    if (closed || timers.has(key)) return;
    const again = (): void => {
      timers.delete(key);
      schedule(key, Math.min(waitMs * 2, LONGEST_WAIT_MS));
    };
    const attempt = (): Promise<void> =>
      tryOnce(key).then((ended) => (ended ? void timers.delete(key) : again()), again);
    timers.set(key, setTimeout(() => void attempt(), waitMs).unref());
  }

  /** True when nothing is left to be done. */
  async function tryOnce(key: string): Promise<boolean> {
    const lease = await reservations.claim(key);
    if (!lease) return false;
    try {
      const record = await reservations.read(key);
      if (record?.state === "settling") return (await conclude(key, record)).state !== "settling";
      if (record) await reservations.update(key, record); // Ended by another call: takes it off the list of open ones.
      return true;
    } finally {
      await lease.release();
    }
  }

  async function sweep(): Promise<void> {
    try {
      for await (const key of reservations.open()) schedule(key, firstMs);
    } catch (error) {
      log.error("settlement.sweep-failed", { error });
    }
    if (!closed) sweeping = setTimeout(() => void sweep(), sweepMs).unref();
  }
}

/** The record after a settlement was tried. */
export function concluded(record: PaymentRecord, { state, receipt }: Settlement): PaymentRecord {
  return { ...record, state: state === "unknown" ? "settling" : state, receipt };
}
