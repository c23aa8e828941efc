import type { Clock, Log } from "../../api/capabilities.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { readEip3009 } from "../x402/eip3009.ts";
import { type PaymentRecord, type Reservations, UNATTENDED_MS } from "./reservations.ts";
import type { Settlement, Settler } from "./settlement.ts";

/** Brings every settlement whose outcome is unknown to an end, without ever asking the payer for another payment. */
export interface Reconciler {
  /** One attempt: asks the chain, and the facilitator again while the authorization lives. To be called under the payment's lease. */
  conclude(key: string, record: PaymentRecord): Promise<PaymentRecord>;
  /**
   * Puts the outcome of a settlement on record and gives back what may be told of it. That it is settled can be told at
   * once, since the chain remembers it; that it was refused, only when it is on record, or it would be tried again.
   */
  note(key: string, record: PaymentRecord, settlement: Settlement): Promise<PaymentRecord>;
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
  /** Lets a job begin whose payment is settled; may be asked more than once. */
  readonly beginJob: Jobs["begin"];
  readonly firstMs?: number;
  readonly sweepMs?: number;
}

/** An authorization must be valid for at least this long when it is settled (x402 `exact` on EVM). */
export const SETTLE_MARGIN_SECONDS = 6;
const LONGEST_WAIT_MS = 60_000;
/** How many are brought to an end in the background at once: after an outage there may be thousands. */
const MOST_AT_ONCE = 16;

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { reservations, settler, clock, log, beginJob, firstMs = 2000, sweepMs = 60_000 } = deps;
  const timers = new Map<string, NodeJS.Timeout>();
  let sweeping: NodeJS.Timeout | undefined;
  let running = 0;
  let closed = false;

  return {
    conclude,
    note,
    watch: (key) => schedule(key, firstMs),
    start: () => void sweep(),
    close() {
      closed = true;
      clearTimeout(sweeping);
      for (const timer of timers.values()) clearTimeout(timer);
    },
  };

  async function conclude(key: string, record: PaymentRecord, keepMs?: number): Promise<PaymentRecord> {
    const { payment, validBefore } = record;
    const seen = await settler.look(payment, payment.accepted);
    const isAlive = validBefore === undefined || validBefore - SETTLE_MARGIN_SECONDS > clock.now() / 1000;
    if (seen.state !== "unknown") return note(key, record, seen, keepMs);
    return isAlive ? note(key, ...(await settleAgain(key, record)), keepMs) : record;
  }

  /** A payment that was refused is unsettled; from this attempt on, it may be settled after all. */
  async function settleAgain(key: string, record: PaymentRecord): Promise<[PaymentRecord, Settlement]> {
    const { payment, state } = record;
    if (state === "settling") return [record, await settler.settle(payment, payment.accepted, "another")];
    const open: PaymentRecord = { ...record, state: "settling" };
    await reservations.update(key, open);
    return [open, await settler.settle(payment, payment.accepted)];
  }

  async function note(
    key: string,
    record: PaymentRecord,
    { state, receipt }: Settlement,
    keepMs?: number,
  ): Promise<PaymentRecord> {
    if (state === "unknown") return { ...record, state: "settling" };
    const next: PaymentRecord = { ...record, state, receipt };
    if (state === "settled" && !(await letBegin(next))) return { ...record, state: "settling" };
    const written = reservations.update(key, next, keepMs).then(
      () => next,
      (error: unknown): PaymentRecord => {
        log.error("payment.update-failed", { error });
        return { ...record, state: "settling" };
      },
    );
    return state === "settled" ? next : written;
  }

  /** False when a job could not be let begin: that is as if its settlement were not known yet, and is tried again. */
  async function letBegin({ job, payment, receipt, ...record }: PaymentRecord): Promise<boolean> {
    if (job === undefined || !receipt) return true;
    const { network, asset, amount } = payment.accepted;
    // Whose signature has moved the money is whom it is paid back to, whatever a facilitator writes.
    const payer = readEip3009(payment.payload)?.authorization.from ?? record.payer ?? receipt.payer ?? null;
    const { transaction } = receipt;
    return beginJob(job, { network, asset, amount, payer, transaction }).then(
      () => true,
      (error: unknown) => {
        log.error("job.begin-failed", { job, error });
        return false;
      },
    );
  }

  function schedule(key: string, waitMs: number): void {
    if (closed || timers.has(key)) return;
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
    const lease = await reservations.claim(key);
    if (!lease) return false;
    try {
      const record = await reservations.read(key);
      if (record?.state !== "settling") await reservations.strike(key); // Another call has ended it.
      return record?.state !== "settling" || (await isConcluded(key, record));
    } finally {
      await lease.release();
    }
  }

  async function isConcluded(key: string, record: PaymentRecord): Promise<boolean> {
    const { state } = await conclude(key, record, UNATTENDED_MS);
    if (state === "settling") return false;
    log.info("settlement.concluded", { service: record.service, network: record.payment.accepted.network, state });
    return true;
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
