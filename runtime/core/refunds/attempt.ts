import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { JobPayment } from "../x402/x402.ts";
import type { RefundRail, RefundTransfer } from "./rail.ts";
import type { OpenRefund, RefundRecords, RefundWay } from "./records.ts";

/** Screens one address. @throws when the screening failed: then nothing is paid. */
export type ScreenRecipient = (address: string, signal: AbortSignal) => Promise<"clear" | "sanctioned">;

export interface RefundAttemptDeps {
  readonly records: RefundRecords;
  readonly rail: RefundRail;
  readonly screenRecipient: ScreenRecipient;
  readonly clock: Clock;
  readonly log: Log;
  /** How long a transfer is watched for reorganisations before it counts as final. */
  readonly guardMs: number;
}

/** The result of an attempt: nothing is left to do, or the transfer is in a block and must be looked at again. */
export type RefundProgress = "over" | "held";

/**
 * One attempt at a pending refund; continues where an earlier one stopped.
 * @param lasting outlives the attempt's time, so that the chain can still be asked why it did not suffice
 * @throws what prevents the payment now
 */
export type RefundAttempt = (refund: OpenRefund, signal: AbortSignal, lasting: AbortSignal) => Promise<RefundProgress>;

/** How long the chain is asked why a transfer has failed. */
const ASK_MS = 10_000;

/**
 * The order is the promise: screen, sign, record, send. The transfer is sent again only after the chain has shown that
 * it does not hold it.
 */
export function createRefundAttempt(deps: RefundAttemptDeps): RefundAttempt {
  const { records, rail, screenRecipient, clock, log, guardMs } = deps;

  return async (opened, signal, lasting) => {
    let refund = opened;
    const way = (await records.readWay(refund.id)) ?? (await choose(refund, signal));
    if (way === "manual") return "over";
    if (!("signed" in way)) return end(refund, "byHand" in way ? way.byHand : null);
    const { signed } = way;
    let found = await rail.find(signed, signal, refund.held?.transaction);
    if (found.state === "open") {
      if (refund.held) refund = await takeBack(refund);
      await checkPaid(refund, signal);
      await rail.send(signed, signal).catch(async (error: unknown) => {
        const { from } = signed.authorization;
        const asking = AbortSignal.any([lasting, AbortSignal.timeout(ASK_MS)]);
        await rail.check(toTransfer(refund), asking, from); // Throws the reason when it has spent the money since.
        throw error;
      });
      found = await rail.find(signed, signal);
    }
    if (found.state === "settled") return hold(refund, found.transaction);
    if (found.state === "dead") return toManual(refund, "The transfer was cancelled with the treasury's key");
    throw new Problem("upstream-failed", "The transfer was sent, and is in no block yet");
  };

  async function choose(refund: OpenRefund, signal: AbortSignal): Promise<RefundWay | "manual"> {
    const transfer = toTransfer(refund);
    if ((await screenRecipient(transfer.to, signal)) === "sanctioned") {
      await toManual(refund, "The payer's address is under sanctions");
      return "manual";
    }
    await checkPaid(refund, signal);
    await rail.check(transfer, signal);
    return records.choose(refund.id, { signed: await rail.sign(refund.id, transfer) });
  }

  /** @throws Problem `unavailable` while the chain does not hold what is to be paid back. */
  async function checkPaid({ payment }: OpenRefund, signal: AbortSignal): Promise<void> {
    if (!(await rail.holds(payment, signal))) throw new Problem("unavailable", toNotPaid(payment));
  }

  async function hold(refund: OpenRefund, transaction: string): Promise<RefundProgress> {
    const { held } = refund;
    const isKnown = held?.transaction === transaction;
    const ageMs = isKnown ? clock.now() - held.at : -1;
    if (ageMs >= guardMs) return end(refund, transaction);
    if (ageMs >= 0) return "held";
    // Found just now, or watched anew because the clock was set back.
    await records.update({ ...refund, reason: null, held: { transaction, at: clock.now() } });
    if (!isKnown) log.info("refund.paid", { job: refund.id, service: refund.service, transaction });
    return "held";
  }

  /** After a reorganisation: the recorded transfer is no longer on the chain. */
  async function takeBack({ held, ...refund }: OpenRefund): Promise<OpenRefund> {
    log.warn("refund.taken-back", { job: refund.id, service: refund.service, transaction: held?.transaction });
    await records.update(refund);
    return refund;
  }

  async function end(refund: OpenRefund, transaction: string | null): Promise<RefundProgress> {
    await records.end(refund, { transaction, at: clock.now() });
    return "over";
  }

  async function toManual({ held: _, ...refund }: OpenRefund, reason: string): Promise<RefundProgress> {
    await records.update({ ...refund, state: "manual", reason });
    log.warn("refund.manual", { job: refund.id, service: refund.service, reason });
    return "over";
  }
}

const toNotPaid = ({ transaction }: JobPayment): string =>
  `The chain does not show the payment ${transaction}, which a reorganisation may have undone: nothing is paid back until it does. If it never will, payphone refunds close --undone ends this`;

const toTransfer = ({ payment }: OpenRefund): RefundTransfer => ({
  to: payment.payer as string,
  amount: payment.amount,
});
