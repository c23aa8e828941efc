import { randomUUID } from "node:crypto";
import { Problem } from "../api/problem.ts";
import type { Invocation, Outcome } from "./call.ts";
import type { InvokeDeps } from "./invoke-deps.ts";
import { explainOffer } from "./payments/offers/explain.ts";
import {
  askedOf,
  type Bought,
  checkSameCall,
  notePayment,
  noteResumed,
  noteStep,
  type Purchase,
  payerOf,
  readInput,
  requestOf,
  toRecord,
  type VerifiedPurchase,
  withRecorded,
} from "./payments/purchase.ts";
import type { PaymentRecord } from "./payments/record.ts";
import { SETTLE_LIFE_MS, toBrief } from "./payments/settlement.ts";
import { toRefused } from "./payments/standing.ts";
import { explainTime, leastSecondsOf } from "./payments/validity.ts";
import { gone, onBehalf, perform, readValidInput } from "./perform.ts";
import { isJobService, type Service, toGone } from "./service.ts";
import { createDeadline } from "./time/deadline.ts";
import { explainPayment } from "./x402/explain-payment.ts";
import { networksOf, type Rail, railOf, takenAt } from "./x402/rails.ts";
import { isKnownKind, type Refusal, readPayment, toPayload, toRefusal } from "./x402/read-payment.ts";
import type { PaymentRequirements, SettleResponse } from "./x402/x402.ts";

/** The only way to a handler, for every surface. @throws Problem for every failure except those of payment. */
export type Invoke = (service: Service, invocation: Invocation) => Promise<Outcome>;

/**
 * The whole life of a call. The order of the lines is the promise to the payer (runtime/docs/decisions/order-of-money.md):
 * nobody is charged for what they did not get, and nobody gets what they did not pay for.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  const { members, rails, offers, jobs, reservations, settler, reconciler, exposure, standing, clock, log } = deps;
  const verifyDeadline = createDeadline(10_000);
  const { networks, offered } = networksOf(rails);

  return async (asked, invocation) => {
    const { price, sign_in: needsSignIn } = asked.manifest;
    if (asked.isRetired && (price === undefined || invocation.payment === undefined)) throw toGone(asked);
    const { payment: raw } = invocation;
    const payment = raw === undefined ? undefined : readPayment(raw, networks, isKnownKind);
    const key = typeof payment === "object" ? `${payment.network}:${payment.authorization.id}` : "";
    const isFree = price === undefined && !(key && (await deps.hasSold(asked, key)));
    if (isFree && !needsSignIn) return serveFree(asked, invocation);
    if (isFree || payment === undefined || raw === undefined) return members.serve(asked, invocation);
    if (typeof payment === "string")
      return refuse(asked, invocation, payment, explainPayment(payment, raw, takenAt(offered, invocation)));
    const service = await deps.sellerOf(asked, key);
    notePayment({ invocation, payment, key }, rails);
    const leastSeconds = leastSecondsOf(service);
    const offer = explainTime(payment, clock.now(), leastSeconds) ?? (await offers.match(service, payment, invocation));
    // An expired offer buys nothing new, but what was bought with it can still be fetched.
    const terms = typeof offer === "string" ? await reservations.recallTerms(key) : offer;
    if (typeof offer === "string" && !terms) {
      const now = Math.floor(clock.now() / 1000);
      const held = { offers: offers.of(service, invocation.networks), invocation, now, leastSeconds };
      return refuse(service, invocation, offer, explainOffer(offer, payment, held));
    }
    const { isFormer, ...read } = await readInput({ service, invocation, payment, key }, reservations);
    const mayCharge = service.manifest.price !== undefined && typeof offer !== "string" && !isFormer;
    return underLease({ service, invocation, payment, offer: terms as PaymentRequirements, key, ...read }, mayCharge);
  };

  async function serveFree(service: Service, invocation: Invocation): Promise<Outcome> {
    const input = await readValidInput(service, invocation);
    if (isJobService(service))
      return jobs.reserve(service, input, async (output) => {
        await jobs.begin(output.job_id, null);
        return { kind: "result", output };
      });
    const call = { id: invocation.id, signal: invocation.signal, payer: undefined, network: undefined };
    return { kind: "result", output: await onBehalf(invocation, () => perform(service, input, call)) };
  }

  /** One call at a time works on a payment; others get what it has bought already, or `payment-in-progress`. */
  async function underLease(purchase: Purchase, mayCharge: boolean): Promise<Outcome> {
    const lease = await reservations.claimPayment(purchase.key);
    if (lease) noteStep(purchase, "reserved", clock.now());
    try {
      const record = await reservations.recall(purchase.key);
      if (!lease && (record?.state !== "settled" || record.owed)) throw inProgress();
      if (record) {
        checkSameCall(record, purchase); // Only the identical call gets the answer, once the payment is settled.
        return await finish(purchase, record);
      }
      const { service, invocation, payment, key } = purchase;
      if (!mayCharge) return refuse(service, invocation, "payment_expired");
      const isEndless = payment.authorization.validBefore === undefined;
      if (isEndless && (await reservations.isSpent(key))) return refuse(service, invocation, "authorization_used");
      return await charge(purchase);
    } finally {
      lease?.release().catch((error: unknown) => log.error("payment.release-failed", { error }));
    }
  }

  async function charge(purchase: Purchase): Promise<Outcome> {
    const { service, invocation, payment, offer } = purchase;
    const { facilitator } = railOf(rails, offer) as Rail;
    const named = await deps.identifiers.recall(purchase, { finish });
    if (named) return named;
    if (purchase.fault !== undefined) throw purchase.fault;
    deps.checkTrust(offer);
    const payload = toPayload(payment, offer, invocation.resource);
    const listed = { ...payload, ...offers.describe(service, invocation.resource) };
    const verdict = await facilitator.verify(listed, offer, verifyDeadline());
    const { isValid, invalidReason: why, invalidMessage: said, payer } = verdict;
    if (!isValid) return refuse(service, invocation, toRefusal(why, said), join(why, said));
    noteStep(purchase, "verified", clock.now());
    const late = explainTime(payment, clock.now(), leastSecondsOf(service)); // Its input, or its verification, may have taken long.
    if (late) return refuse(service, invocation, late);
    const whose = { payer: payment.authorization.payer ?? payer, reported: payer };
    const verified = { ...purchase, ...whose, listed, request: requestOf(purchase), asked: askedOf(purchase) };
    return deps.identifiers.once(verified, { buy: (bought) => deps.rules.during(bought, () => buy(bought)), finish });
  }

  async function buy(purchase: VerifiedPurchase): Promise<Outcome> {
    const { service, input, offer, payer } = purchase;
    const isFirst = isJobService(service) || (await mustPayFirst(purchase));
    if (isFirst || deps.mustConfirm(deps.termsOf(purchase).usd)) await settler.checkChain(offer);
    if (purchase.invocation.signal.aborted) throw gone(); // Nothing was done or charged yet.
    if (!isFirst) return payLast(purchase);
    await deps.checkReady(purchase, payer);
    // `charge: first`: settle, then do the work. Until it is delivered, the payment is a credit.
    if (!isJobService(service)) return settle(purchase, { owed: { id: randomUUID(), input, failures: 0 } });
    return jobs.reserve(offers.pin(service, offer), input, (job) => settle(purchase, { output: job, job: job.job_id }));
  }

  /** Payers pay first when they are unknown, or did not pay for earlier work. */
  async function mustPayFirst({ service: { manifest }, offer, payer }: VerifiedPurchase): Promise<boolean> {
    return manifest.charge === "first" || payer === undefined || standing.paysFirst(payerOf(payer, offer), manifest.id);
  }

  /** `charge: last`: do the work, record its result, settle, and only then answer. */
  async function payLast(purchase: VerifiedPurchase): Promise<Outcome> {
    const { service, invocation, payment, key, offer, input } = purchase;
    const { id, signal } = invocation;
    const payer = payerOf(purchase.payer as string, offer);
    const lifeMs = service.deadlineMs + SETTLE_LIFE_MS;
    const begun = clock.now();
    const leave = async (error?: unknown): Promise<never> => {
      if (!signal.aborted) throw error;
      await standing.noteLeft(payer);
      throw gone();
    };
    return exposure.during({ key, payer: purchase.payer as string, offer, payment, lifeMs }, async () => {
      const call = { id, signal, payer: purchase.payer, network: offer.network };
      const output = await onBehalf(invocation, () => perform(service, input, call)).catch(leave);
      noteStep(purchase, "worked", clock.now());
      if (signal.aborted) await leave(); // Before the settlement: the payment is released and not charged.
      const onRefused = () => standing.noteRefused(payer, service.manifest.id, clock.now() - begun);
      const outcome = await settle(purchase, { output }, onRefused); // A caller who disconnects from here on is charged.
      if (outcome.kind === "result") exposure.spent({ payer: purchase.payer as string, offer, payment });
      return outcome;
    });
  }

  /** Once the call is on record, the payment is reported as unsettled only when that is certain, after `onRefused`. */
  async function settle(purchase: VerifiedPurchase, bought: Bought, onRefused = async () => {}): Promise<Outcome> {
    const { service, invocation, payment, key, offer, listed } = purchase;
    if (invocation.signal.aborted) throw gone(); // Its job was put on record meanwhile, or it was seen whether work can be done.
    const late = explainTime(payment, clock.now());
    if (late) return onRefused().then(() => refuse(service, invocation, late));
    const record = toRecord(purchase, bought, deps.termsOf(purchase));
    if (!(await deps.identifiers.bind(purchase))) throw inProgress();
    const putOnList = deps.placeBought(purchase);
    const begun = await reservations.begin(key, record).catch((error: unknown) => {
      log.error("payment.begin-failed", { error });
      return undefined; // The record may have been written: then whoever finds it settles it.
    });
    if (begun === undefined) return answer(purchase, record);
    if (!begun) throw inProgress();
    const recorded = withRecorded(record, clock.now());
    // Work that follows the settlement begins only when the chain shows the settlement.
    const mustConfirm = "output" in bought && !bought.job ? deps.mustConfirm(record.sold?.usd ?? "0") : true;
    void putOnList();
    const settlement = await settler.settle(listed, offer, { mustConfirm });
    const known = await reconciler.conclusionOf(key, recorded, settlement);
    if (known.state === "rejected") await onRefused();
    return answer(purchase, known);
  }

  async function finish(purchase: Purchase, record: PaymentRecord): Promise<Outcome> {
    const check = record.owed || record.job ? () => deps.checkReady(purchase, record.payer) : undefined;
    const known = record.state === "settled" ? record : await reconciler.conclude(purchase.key, record, check);
    if (known.state !== "rejected") noteResumed(purchase);
    const outcome = await answer(purchase, known);
    return outcome.kind === "result" && known === record && !record.owed ? { ...outcome, isRepeat: true } : outcome;
  }

  async function answer({ service, invocation, key }: Purchase, known: PaymentRecord): Promise<Outcome> {
    // Whatever fails here, its payer must be told that the payment was settled. The reconciler goes on with the work.
    const deliver = (): Promise<PaymentRecord> =>
      deps.credits.deliver(key, known, new AbortController().signal).catch((error: unknown) => {
        log.error("credit.not-recorded", { service: service.manifest.id, error });
        return known;
      });
    const record = known.state === "settled" && known.owed ? await onBehalf(invocation, deliver) : known;
    const { state, output, receipt, owed, payer, payment } = record;
    const paid = receipt && { ...receipt, ...(payer && { payer }), amount: payment.accepted.amount };
    if (owed && state === "settled") {
      reconciler.watch(key);
      throw await deps.credits.explain({ ...record, ...(paid && { receipt: paid }) });
    }
    if (state === "settled") {
      if (record.exchange !== undefined)
        await deps.onSettled?.(record).catch((error: unknown) => log.error("exchange.failed", { error }));
      return { kind: "result", output, ...(paid && { receipt: prove(record, paid), asset: payment.accepted.asset }) };
    }
    if (state === "rejected") return refuse(service, invocation, ...toRefused(record), receipt);
    reconciler.watch(key);
    const detail =
      "The payment may have been sent; its outcome is not known yet. Repeat this request with the same payment; do not pay again.";
    throw new Problem("settlement-unknown", detail, { retryAfter: 5 });
  }

  /** Adds our signature to the receipt; the same signature each time. */
  function prove({ payment, settledAt = 0 }: PaymentRecord, receipt: SettleResponse): SettleResponse {
    const resource = payment.resource?.url ?? "";
    const extensions = deps.proofs?.receipt({ resource, receipt, payer: receipt.payer, settledAt });
    return { ...receipt, ...(extensions && { extensions }) };
  }

  function refuse(
    service: Service,
    { resource, networks }: Invocation,
    refusal: Refusal,
    reason: string = refusal,
    receipt?: SettleResponse,
  ): Outcome {
    const error = reason === refusal ? refusal : `${refusal}: ${toBrief(reason, receipt ? undefined : 240)}`;
    const challenge = offers.challenge(service, resource, { error, networks });
    return { kind: "challenge", challenge, ...(receipt && { receipt }) };
  }
}

/** A facilitator's reason and message, where given; some facilitators write null. */
const join = (...texts: readonly (string | null | undefined)[]): string | undefined =>
  texts.filter(Boolean).join(": ") || undefined;

const inProgress = (): Problem => new Problem("payment-in-progress", undefined, { retryAfter: 1 });
