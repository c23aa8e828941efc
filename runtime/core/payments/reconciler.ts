import { Problem } from "../../api/problem.ts";
import { isDamaged } from "../damage.ts";
import type { Jobs } from "../jobs/jobs.ts";
import { type AttemptResult, type AttemptTerms, createSweeper } from "../time/sweeper.ts";
import { type ClaimsDeps, createClaims } from "./claims.ts";
import type { Credits } from "./credits.ts";
import { isDone, isOwed, isSeenPaid, type PaymentRecord, toJobPayment, UNATTENDED_MS } from "./record.ts";
import type { Reservations } from "./reservations.ts";
import type { Settlement, Settler } from "./settlement.ts";
import { SETTLE_MARGIN_SECONDS } from "./validity.ts";

/** Brings every payment to a final outcome, without ever asking the payer for another payment. */
export interface Reconciler {
  /**
   * One attempt, under the lease: asks the chain, and while the payment is valid the facilitator, too; after `check` where
   * it has refused before.
   */
  conclude(key: string, record: PaymentRecord, check?: Check): Promise<PaymentRecord>;
  /**
   * Records the outcome of a settlement, starts its job, and returns the record that may be reported to the payer. A
   * success is reported at once, since the chain keeps it; a refusal is reported only when it is on record.
   */
  conclusionOf(key: string, record: PaymentRecord, settlement: Settlement): Promise<PaymentRecord>;
  /** Retries in the background until the payment is done. */
  watch(key: string): void;
  /** Resumes payments that this or another process left open, now and once a minute. */
  start(): void;
  /** Resumes payments that other processes left open, once. */
  sweep(): void;
  /** Starts no more attempts, and waits for the running ones. */
  drain(): Promise<void>;
  close(): void;
}

export interface ReconcilerDeps
  extends Pick<ClaimsDeps, "onClaim" | "clock" | "log">,
    Partial<Pick<ClaimsDeps, "claimMs">> {
  readonly reservations: Reservations;
  readonly settler: Pick<Settler, "settle" | "look">;
  readonly credits: Credits;
  /** Settles a refused payment again, if the shop's rules allow its payer to buy. @throws Problem as the rules. */
  readonly duringRetry: (key: string, record: PaymentRecord, settle: Settle) => Promise<PaymentRecord>;
  /** Starts the job of a settled payment; may be called more than once. */
  readonly beginJob: Jobs["begin"];
  /** Called when a payment whose outcome was unknown is settled or refused. */
  readonly onKnownLate: (key: string, record: PaymentRecord) => void;
  /** Called when a payment that was refused has moved all the same. */
  readonly onMoved: (key: string, record: PaymentRecord) => void;
  readonly firstMs?: number;
  readonly sweepMs?: number;
  /** The delay before a settlement that only the facilitator has reported is looked up on the chain. */
  readonly confirmAfterMs?: number;
}

const MEND =
  "Its payment may be settled, and not delivered: payphone books verify says whether it has come in, and it can be paid back by hand";

type Settle = () => Promise<PaymentRecord>;
type Check = () => Promise<void>;
type Again = { readonly check: Check | undefined; readonly keepMs: number | undefined };

const LONGEST_WAIT_MS = 60_000;
/** How long a settlement that the chain has ruled out is still looked up, since a reorganisation may bring it back. */
const DEAD_MS = 10 * 60_000;

export function createReconciler(deps: ReconcilerDeps): Reconciler {
  const { reservations, settler, credits, clock, log, beginJob, onClaim, onKnownLate, onMoved } = deps;
  const { firstMs = 2000, sweepMs = 60_000, confirmAfterMs = 5000, claimMs = 60_000 } = deps;
  const sweeper = createSweeper<PaymentRecord>({
    list: reservations.open,
    read: readUnfinished,
    claim: reservations.claimPayment,
    attempt,
    onError: () => {}, // The store is unreachable; `onOutage` reports that once for all payments.
    onOutage: (error) => log.error("settlement.sweep-failed", { error }),
    firstMs,
    longestMs: LONGEST_WAIT_MS,
    sweepMs,
    laneOf: (key) => key.split(":", 2).join(":"), // By network: a silent node keeps no other's payments waiting.
  });
  /** The damaged records that the operator was told of. */
  const told = new Set<string>();
  const claims = createClaims({ reservations, onClaim, clock, log, claimMs });

  return {
    conclude,
    conclusionOf,
    watch: (key) => sweeper.schedule(key, firstMs),
    start: sweeper.start,
    sweep: sweeper.sweep,
    drain: sweeper.drain,
    close: () => void sweeper.close(),
  };

  async function conclude(key: string, record: PaymentRecord, check?: Check, keepMs?: number): Promise<PaymentRecord> {
    const { payment, state } = record;
    // Unlisted, what is settled from here on would be looked for by nobody after a crash.
    if (state === "settling") await reservations.enlist(key, record);
    const seen = await settler.look(payment, payment.accepted);
    if (seen.state === "unknown" && !(isAlive(record) && (await isDurable(key, record)))) return record;
    const next = await (seen.state === "unknown"
      ? settleAgain(key, record, { check, keepMs })
      : conclusionOf(key, record, seen, keepMs));
    if (next.state === "settled" || (next.state === "rejected" && state === "settling")) onKnownLate(key, next);
    return next;
  }

  /**
   * Makes sure that the record is on disk: one whose write was refused (a failing disk, a removed file) can still be read, but
   * a crash may undo it, and a payment that was settled meanwhile would be lost. `settleAgain` writes a refused payment anew.
   */
  async function isDurable(key: string, record: PaymentRecord): Promise<boolean> {
    return record.state !== "settling" || isWritten(reservations.secure(key, record));
  }

  /** False for a write that was refused: it may have been done all the same. */
  function isWritten(write: Promise<void>, event = "payment.begin-failed", about = {}): Promise<boolean> {
    return write.then(
      () => true,
      (error: unknown) => {
        log.error(event, { ...about, error });
        return false;
      },
    );
  }

  function isAlive({ validBefore }: PaymentRecord): boolean {
    return validBefore === undefined || validBefore - SETTLE_MARGIN_SECONDS > clock.now() / 1000;
  }

  /** Marks a refused payment as open before it is settled again: this attempt may succeed. */
  async function settleAgain(key: string, record: PaymentRecord, { check, keepMs }: Again): Promise<PaymentRecord> {
    const { payment, state } = record;
    const how = { isAgain: state === "settling", mustConfirm: true };
    const settle = async (of: PaymentRecord): Promise<PaymentRecord> =>
      conclusionOf(key, of, await settler.settle(payment, payment.accepted, how), keepMs);
    if (state === "settling") return settle(record);
    const open: PaymentRecord = { ...record, state: "settling" };
    return deps.duringRetry(key, record, async () => {
      await check?.();
      return (await isWritten(reservations.update(key, open))) ? settle(open) : open; // Whoever finds it open settles it.
    });
  }

  async function conclusionOf(
    key: string,
    record: PaymentRecord,
    settlement: Settlement,
    keepMs?: number,
  ): Promise<PaymentRecord> {
    const { state, receipt, isFinal } = settlement;
    void claims.judge(key, record, settlement);
    if (state === "unknown") return { ...record, state: "settling" };
    const settledAt = state === "settled" && { settledAt: clock.now() };
    const reportedBy = settlement.by !== undefined && !isFinal && { reportedBy: settlement.by };
    const next: PaymentRecord = { ...record, state, receipt, isFinal, ...settledAt, ...reportedBy };
    if (state === "settled" && !(await startJob(next))) return { ...record, state: "settling" };
    const written = reservations
      .update(key, next, keepMs)
      .then(async () => {
        if (state === "settled" && record.state === "rejected") onMoved(key, next);
        if (!isFinal || isOwed(next)) sweeper.schedule(key, isFinal ? firstMs : confirmAfterMs);
        else await reservations.strike(key);
        return next;
      })
      .catch((error: unknown): PaymentRecord => {
        log.error("payment.update-failed", { error });
        return { ...record, state: "settling" };
      });
    return state === "settled" ? next : written;
  }

  /** Starts the payment's job. False when that failed: the settlement then counts as unknown and is tried again. */
  async function startJob(record: PaymentRecord): Promise<boolean> {
    const { job, service } = record;
    if (job === undefined) return true;
    return isWritten(beginJob(job, toJobPayment(record), service), "job.begin-failed", { job });
  }

  /**
   * The record of a payment that needs work under its lease. A settlement that only awaits confirmation by the chain is
   * looked up here without the lease, so that repeated calls are answered meanwhile; so another process may still doubt it.
   * @throws Problem `upstream-failed` while the chain does not show it.
   */
  async function readUnfinished(key: string): Promise<PaymentRecord | undefined> {
    const record =
      (await reservations.read(key).catch((error) => tell(key, error))) ?? (await reservations.readSought(key));
    const isWaiting = record?.state === "settled" && !isOwed(record) && !record.isFinal;
    if (isWaiting && !(await isJudged(key, record)))
      throw new Problem("upstream-failed", "The chain does not show the settlement");
    if (record && !isWaiting && !isDone(record)) return record;
    if (record?.state === "settled" && record.receipt) void claims.judge(key, record, record as Settlement);
    if (record && isSeenPaid(record)) await reservations.correctSale(key, "restoration", record.receipt?.transaction);
    await reservations.strike(key);
    claims.forget(key);
    return undefined;
  }

  /** Says once of a damaged record that only a person can find out what became of its payment. */
  function tell(key: string, error: unknown): never {
    if (isDamaged(error) && !told.has(key)) log.error("payment.damaged", { record: `payment:${key}`, mend: MEND });
    if (isDamaged(error)) told.add(key);
    throw error;
  }

  /** Whether the chain shows a settlement that a facilitator has reported, or has long shown that there is none. */
  async function isJudged(key: string, record: PaymentRecord): Promise<boolean> {
    const found = await settler.look(record.payment, record.payment.accepted, record.receipt?.transaction);
    await claims.judge(key, record, { ...found, isClaimed: found.isReadable === true });
    const seen = found.state === "unknown" && found.isReadable ? await settleElsewhere(key, record, found) : found;
    const [shown, reported] = [seen.receipt.transaction, record.receipt?.transaction];
    if (seen.state === "settled") await reservations.keepShown(key, shown, reported);
    else if (seen.state === "unknown") await reservations.keepSought(key, record);
    if (seen.state === "rejected") return clock.now() - claims.sinceOf(key) >= DEAD_MS;
    return seen.state === "settled";
  }

  /**
   * When one of several facilitators has reported a settlement falsely, another one settles it while the authorization
   * is valid: the work was already delivered. The authorization can be used only once, whoever submits it.
   */
  async function settleElsewhere(key: string, record: PaymentRecord, found: Settlement): Promise<Settlement> {
    const isFalse = record.reportedBy !== undefined && clock.now() - claims.sinceOf(key) >= claimMs;
    if (!isFalse || !isAlive(record)) return found;
    const settled = await settler.settle(record.payment, record.payment.accepted, { isAgain: true, mustConfirm: true });
    if (settled.state === "settled") void claims.judge(key, record, settled);
    return settled;
  }

  async function attempt(key: string, record: PaymentRecord, { signal }: AttemptTerms): Promise<AttemptResult> {
    const next = await step(key, record, signal);
    const { service, payment } = record;
    if (next.state !== record.state)
      log.info("settlement.concluded", { service, network: payment.accepted.network, state: next.state });
    if (!isDone(next)) return "retry";
    if (isOwed(record)) await reservations.strike(key); // Other outcomes strike it out once they are on record.
    return "done";
  }

  async function step(key: string, record: PaymentRecord, signal: AbortSignal): Promise<PaymentRecord> {
    if (isOwed(record)) return credits.deliver(key, record, signal, UNATTENDED_MS);
    if (record.state === "settling") return conclude(key, record, undefined, UNATTENDED_MS);
    // A refused payment may still be settled while it is valid: by us only when its payer repeats the call.
    const seen = await settler.look(record.payment, record.payment.accepted);
    return seen.state === "unknown" ? record : conclusionOf(key, record, seen, UNATTENDED_MS);
  }
}
