import type { Clock, Log } from "../api/capabilities.ts";
import { Problem, toValueError } from "../api/problem.ts";
import type { Invocation, Outcome } from "./call.ts";
import { createDeadline } from "./deadline.ts";
import { digestOf } from "./digest.ts";
import type { AcceptedJob, Jobs } from "./jobs/jobs.ts";
import type { Offers } from "./payments/offers.ts";
import { type Reconciler, SETTLE_MARGIN_SECONDS } from "./payments/reconciler.ts";
import type { PaymentRecord, Reservations } from "./payments/reservations.ts";
import { type Settler, toBrief } from "./payments/settlement.ts";
import { perform, readValidInput } from "./perform.ts";
import { isJobService, type Service } from "./service.ts";
import type { Rail } from "./x402/rails.ts";
import { type Payment, type Refusal, readPayment, toPayload, toRefusal } from "./x402/read-payment.ts";
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "./x402/x402.ts";

/** The only road to a handler, whatever the surface. @throws Problem for everything that is not about payment. */
export type Invoke = (service: Service, invocation: Invocation) => Promise<Outcome>;

export interface InvokeDeps {
  readonly rails: readonly Rail[];
  readonly offers: Offers;
  readonly jobs: Pick<Jobs, "reserve" | "begin">;
  readonly reservations: Reservations;
  readonly settler: Settler;
  readonly reconciler: Reconciler;
  readonly clock: Clock;
  readonly log: Log;
  readonly verifyMs?: number;
  /** Told of settled calls that named an exchange, before they are answered; each time that they are. */
  readonly onSettled?: ((record: PaymentRecord) => Promise<void>) | undefined;
}

/** A payment that fits an offer, for an input that fits the service. */
interface Purchase {
  readonly service: Service;
  readonly invocation: Invocation;
  readonly payment: Payment;
  readonly offer: PaymentRequirements;
  readonly input: unknown;
  readonly key: string;
  readonly request: string;
}

/**
 * The whole life of a call. The order of the lines is the promise to the payer (decisions.md, "The order of things on
 * a paid route"): nobody is charged for what they did not get, and nobody gets what they did not pay for.
 */
export function createInvoke(deps: InvokeDeps): Invoke {
  const { rails, offers, jobs, reservations, settler, reconciler, clock, log, verifyMs = 10_000, onSettled } = deps;
  const verifyDeadline = createDeadline(verifyMs);
  const networks = new Map(rails.map(({ manifest }) => [manifest.id, manifest.network]));

  return async (service, invocation) => {
    if (service.manifest.price === undefined) return serveFree(service, invocation);
    if (invocation.payment === undefined) return refuse(service, invocation);
    const payment = readPayment(invocation.payment, networks);
    if (typeof payment === "string") return refuse(service, invocation, payment);
    const key = `${payment.network}:${payment.authorization.id}`;
    const leastSeconds = leavesTraces(service) ? service.deadlineMs / 1000 : 0;
    const offer = explainTime(payment, leastSeconds) ?? (await offers.match(service, payment, invocation));
    const record = typeof offer === "string" ? await reservations.read(key) : undefined;
    if (typeof offer === "string" && !record) return refuse(service, invocation, offer);
    const input = await readValidInput(service, invocation);
    const request = requestOf(service, payment, input);
    // An offer that has run out buys nothing new, but what was bought with it can still be fetched.
    const terms = typeof offer === "string" ? (record as PaymentRecord).payment.accepted : offer;
    return underLease({ service, invocation, payment, offer: terms, input, key, request }, record === undefined);
  };

  async function serveFree(service: Service, invocation: Invocation): Promise<Outcome> {
    const input = await readValidInput(service, invocation);
    if (isJobService(service))
      return jobs.reserve(service, input, async (output) => {
        await jobs.begin(output.job_id, null);
        return { kind: "result", output };
      });
    const { id, signal } = invocation;
    return {
      kind: "result",
      output: await perform(service, input, { id, signal, payer: undefined, network: undefined }),
    };
  }

  /** One call at a time works on a payment; everybody else is told to come back. */
  async function underLease(purchase: Purchase, mayCharge: boolean): Promise<Outcome> {
    const lease = await reservations.claim(purchase.key);
    if (!lease) throw new Problem("payment-in-progress", undefined, { retryAfter: 1 });
    try {
      const record = await reservations.read(purchase.key);
      if (record) return await resume(purchase, record);
      const { service, invocation, payment } = purchase;
      if (!mayCharge) return refuse(service, invocation, "payment_expired");
      const isEndless = payment.authorization.validBefore === undefined;
      if (isEndless && (await reservations.isSpent(purchase.key)))
        return refuse(service, invocation, "authorization_used");
      return await charge(purchase);
    } finally {
      lease.release().catch((error: unknown) => log.error("payment.release-failed", { error }));
    }
  }

  async function charge(purchase: Purchase): Promise<Outcome> {
    const { service, invocation, payment, offer } = purchase;
    const payload = toPayload(payment, offer, invocation.resource);
    const listed = { ...payload, ...offers.describe(service, invocation.resource) };
    const { facilitator } = rails.find(({ manifest }) => manifest.network === offer.network) as Rail;
    const { isValid, invalidReason, payer } = await facilitator.verify(listed, offer, verifyDeadline());
    if (!isValid) return refuse(service, invocation, toRefusal(invalidReason), invalidReason);
    const signal = leavesTraces(service) ? NEVER : invocation.signal;
    const pay = async (output: unknown): Promise<Outcome> => {
      if (signal.aborted) throw new Problem("unavailable", "The caller is gone"); // Before the money moves: released, not charged.
      const late = explainTime(payment);
      if (late) return refuse(service, invocation, late);
      return settle(purchase, listed, toRecord(purchase, payload, output, payer));
    };
    if (isJobService(service)) return jobs.reserve(service, purchase.input, pay);
    const call = { id: invocation.id, signal, payer, network: offer.network };
    return pay(await perform(service, purchase.input, call));
  }

  /** From here on the result is kept, and nobody is told that the payment is unsettled unless it is known. */
  async function settle(purchase: Purchase, listed: PaymentPayload, record: PaymentRecord): Promise<Outcome> {
    const { key, offer } = purchase;
    const begun = await reservations.begin(key, record).catch((error: unknown) => {
      log.error("payment.begin-failed", { error });
      return undefined; // Perhaps it is on record all the same, and then somebody will settle it.
    });
    if (begun === undefined) return answer(purchase, record);
    if (!begun) throw new Problem("payment-in-progress", undefined, { retryAfter: 1 });
    return answer(purchase, await reconciler.note(key, record, await settler.settle(listed, offer)));
  }

  /** The same payment again: the same call gets its answer, as soon as the money has moved; any other call gets nothing. */
  async function resume(purchase: Purchase, record: PaymentRecord): Promise<Outcome> {
    if (record.request !== purchase.request) throw new Problem("payment-conflict");
    return answer(purchase, record.state === "settled" ? record : await reconciler.conclude(purchase.key, record));
  }

  async function answer({ service, invocation, key }: Purchase, record: PaymentRecord): Promise<Outcome> {
    const { state, output, receipt } = record;
    if (state === "settled") {
      if (record.exchange !== undefined)
        await onSettled?.(record).catch((error: unknown) => log.error("exchange.failed", { error }));
      return { kind: "result", output, ...(receipt && { receipt }) };
    }
    if (state === "rejected")
      return refuse(service, invocation, toRefusal(receipt?.errorReason), receipt?.errorReason, receipt);
    reconciler.watch(key);
    const detail =
      "The payment may have been sent; its outcome is not known yet. Repeat this request with the same payment; do not pay again.";
    throw new Problem("settlement-unknown", detail, { retryAfter: 5 });
  }

  function refuse(
    service: Service,
    { resource, networks }: Invocation,
    refusal?: Refusal,
    raw?: string,
    receipt?: SettleResponse,
  ): Outcome {
    const error = (raw ?? refusal) === refusal ? refusal : `${refusal}: ${toBrief(raw as string)}`;
    const challenge = offers.challenge(service, resource, { error, networks });
    return { kind: "challenge", challenge, ...(receipt && { receipt }) };
  }

  /** @param leastSeconds how long the authorization must live before it is settled. */
  function explainTime({ authorization }: Payment, leastSeconds = 0): Refusal | undefined {
    const { validAfter, validBefore } = authorization;
    const now = Math.floor(clock.now() / 1000);
    if (validBefore !== undefined && validBefore < now + leastSeconds + SETTLE_MARGIN_SECONDS) return "payment_expired";
    if (validBefore !== undefined && validBefore > now + LONGEST_SECONDS) return "payment_valid_too_long";
    return validAfter !== undefined && validAfter > now ? "payment_not_yet_valid" : undefined;
  }
}

/**
 * What a call leaves behind, an anchor on a chain, is in the world before it is paid for. So that nobody has it for
 * nothing, it is not begun for a payment that may run out meanwhile, nor stopped for a caller who leaves: it is finished
 * and charged, and its result can be fetched.
 */
const leavesTraces = ({ manifest: { hints }, job }: Service): boolean => hints?.readOnly === false && !job;
const NEVER = new AbortController().signal;

/** A payment is remembered for as long as it could be used again: a day is enough for any client, and for our disk. */
const LONGEST_SECONDS = 24 * 60 * 60;

const toRecord = (
  { service, invocation: { exchange }, payment, request }: Purchase,
  payload: PaymentPayload,
  output: unknown,
  payer: string | undefined,
): PaymentRecord => ({
  ...{ state: "settling", request, service: service.manifest.id, payment: payload, output },
  ...(payment.authorization.validBefore !== undefined && { validBefore: payment.authorization.validBefore }),
  ...(isJobService(service) && { job: (output as AcceptedJob).job_id }),
  ...(payer !== undefined && { payer }),
  ...(exchange !== undefined && { exchange }),
});

/**
 * What a payment was spent on: whoever wants its answer must bring the same signature, service and input.
 * @throws Problem `invalid-input` for what JSON can say and RFC 8785 cannot: "\ud800" is half a character.
 */
function requestOf(service: Service, { authorization }: Payment, input: unknown): string {
  try {
    return digestOf([authorization.fingerprint, service.manifest.id, input]);
  } catch (cause) {
    const fault = toValueError(`the input has no canonical form (RFC 8785): ${(cause as Error).message}`);
    throw new Problem("invalid-input", undefined, { issues: [fault], cause });
  }
}
