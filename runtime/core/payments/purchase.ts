import { Problem } from "../../api/problem.ts";
import { saleId, toBookPayer } from "../books/events.ts";
import type { CallCourse, CallSteps, Invocation } from "../call.ts";
import { digestOf, digestOfInput } from "../digest.ts";
import { oncePer } from "../once.ts";
import { toValidInput } from "../perform.ts";
import type { Service } from "../service.ts";
import { priceOf, type Tariff } from "../set/price.ts";
import { type Rail, railOf } from "../x402/rails.ts";
import { type Payment, toPayload } from "../x402/read-payment.ts";
import type { PaymentPayload, PaymentRequirements } from "../x402/x402.ts";
import type { PaymentRecord, SoldAs } from "./record.ts";
import type { Reservations } from "./reservations.ts";

/** A payment that fits an offer, for an input that fits the service. */
export interface Purchase {
  readonly service: Service;
  readonly invocation: Invocation;
  readonly payment: Payment;
  readonly offer: PaymentRequirements;
  readonly input: unknown;
  /** The input as it came, unchecked. */
  readonly given: unknown;
  /** Network and authorization id: identifies what can be settled only once. */
  readonly key: string;
  /** Why the input is refused. Nothing new is bought then; what was bought earlier can still be fetched. */
  readonly fault?: unknown;
}

/** A purchase whose payment the facilitator has verified. */
export interface VerifiedPurchase extends Purchase {
  /** The signer, whatever the facilitator reports; its report where the payload names no payer. */
  readonly payer: string | undefined;
  /** The payer that the facilitator reports. */
  readonly reported: string | undefined;
  /** The payload as it is sent to the facilitator. */
  readonly listed: PaymentPayload;
  /** See `requestOf` and `askedOf`. */
  readonly request: string;
  readonly asked: string | undefined;
  /** The name under which the payer's identifier is stored; undefined when the payment has none. */
  readonly named?: string;
}

/** A verified purchase with another payment of the same payer, and the offer of that. */
export const toVerified = (purchase: VerifiedPurchase): VerifiedPurchase => {
  const { payment, offer, listed } = purchase;
  return {
    ...purchase,
    listed: { ...listed, accepted: offer, payload: payment.payload },
    request: requestOf(purchase),
  };
};

/** What a payment buys: an answer, work that is done afterwards, or an accepted job. */
export type Bought = Pick<PaymentRecord, "output" | "owed" | "job">;

/** The terms of a sale: the rail that takes the payment, the value of the payment, and the digest of the set. */
export interface Selling {
  readonly rail: Pick<Rail, "manifest">;
  /** US dollars, decimal text. */
  readonly usd: string;
  readonly set: string | undefined;
}

/** The value of a purchase's payment: US dollars, decimal text. */
export type UsdOf = (purchase: Pick<Purchase, "service" | "offer">) => string;

/** Values the offer that is paid, whose price may differ from the current one. */
export function createUsdOf(rails: readonly Rail[], tariff: Tariff): UsdOf {
  const worthOf = oncePer(({ manifest: { price: known = "0" } }: Service) =>
    oncePer((offer: PaymentRequirements): string => {
      const rail = railOf(rails, offer)?.manifest;
      return (rail && priceOf(rail, BigInt(offer.amount), { ...tariff, known })) ?? known;
    }),
  );
  return ({ service, offer }) => worthOf(service)(offer);
}

/** The record of a purchase before its settlement. */
export function toRecord(purchase: VerifiedPurchase, bought: Bought, selling: Selling): PaymentRecord {
  const { service, invocation, payment, offer, payer, reported, request, asked } = purchase;
  const { validBefore, fingerprint } = payment.authorization;
  const { exchange } = invocation;
  return {
    state: "settling",
    request,
    ...(asked !== undefined && { asked }),
    fingerprint,
    service: service.manifest.id,
    payment: toPayload(payment, offer, invocation.resource),
    ...bought,
    ...(validBefore !== undefined && { validBefore }),
    ...(payer !== undefined && { payer }),
    ...(reported !== undefined && reported !== payer && { reported }),
    ...(exchange !== undefined && { exchange }),
    sold: toSold(purchase, selling),
  };
}

function toSold({ invocation }: Purchase, { rail, usd, set }: Selling): SoldAs {
  const { id, decimals } = rail.manifest;
  const { door = "rest", id: requestId, course } = invocation;
  return {
    door,
    requestId,
    rail: id,
    decimals,
    usd,
    ...(set !== undefined && { set }),
    ...(course && { course: toSteps(course) }),
  };
}

/** Notes which payment a call is paid with. */
export function notePayment(purchase: Pick<Purchase, "invocation" | "payment" | "key">, rails: readonly Rail[]): void {
  const { invocation, payment, key } = purchase;
  const { network, accepted, authorization } = payment;
  const rail = railOf(rails, { network, asset: accepted?.asset ?? "" })?.manifest.id;
  const payer = toBookPayer(network, authorization.payer ?? null);
  if (invocation.course)
    Object.assign(invocation.course, { rail, payer, sale: saleId(key) } satisfies Partial<CallCourse>);
}

/** Notes that a call asks for what an earlier one has bought, with the payment of this key. */
export function noteResumed({ invocation: { course }, key }: Pick<Purchase, "invocation" | "key">): void {
  if (course) Object.assign(course, { isResumed: true, sale: saleId(key) } satisfies Partial<CallCourse>);
}

/** Notes when a step of a call was done. */
export function noteStep({ invocation }: Purchase, step: "reserved" | "verified" | "worked", at: number): void {
  if (invocation.course) invocation.course[step] = at;
}

const toSteps = ({ begun, reserved, verified, worked, recorded }: CallCourse): CallSteps => ({
  begun,
  ...(reserved !== undefined && { reserved }),
  ...(verified !== undefined && { verified }),
  ...(worked !== undefined && { worked }),
  ...(recorded !== undefined && { recorded }),
});

/** The record, with the time at which it was written. */
export const withRecorded = (record: PaymentRecord, recorded: number): PaymentRecord => {
  const { sold } = record;
  return sold?.course ? { ...record, sold: { ...sold, course: { ...sold.course, recorded } } } : record;
};

/**
 * Digest of the call that a payment was spent on: the stored answer is given only for the same signature, service and
 * input. @throws as `digestOfInput`
 */
export const requestOf = ({ service, payment, input }: Purchase): string =>
  digestOfInput([payment.authorization.fingerprint, service.manifest.id, input]);

/** Digest of service and input. @throws as `digestOfInput` */
export const callOf = ({ service, input }: Pick<Purchase, "service" | "input">): string =>
  digestOfInput([service.manifest.id, input]);

/** The parts that two calls must share to be the same word for word. */
type Asked = Pick<Purchase, "service" | "given">;

/** Digest of service and input as it came. Undefined when the input has no canonical form. */
export function askedOf({ service, given }: Asked): string | undefined {
  try {
    return digestOf([service.manifest.id, given]);
  } catch {
    return undefined;
  }
}

/**
 * Whether a call is repeated word for word. It may not fit the schema any more, or mean another input by its defaults,
 * when the schema has changed since.
 */
export const isAskedAgain = ({ asked }: Pick<PaymentRecord, "asked">, call: Asked): boolean =>
  asked !== undefined && asked === askedOf(call);

/** @throws Problem `payment-conflict` when a call is not the one that its payment was spent on. */
export function checkSameCall(record: PaymentRecord, asked: Purchase): void {
  const purchase = toAsSold(record, asked);
  const isSame = record.request === requestOf(purchase) || isAskedAgain(record, purchase);
  if (!isSame || !isSamePayment(record, purchase)) throw new Problem("payment-conflict", SPENT);
}

/** The call under the id of the service that has sold at this route: another process may know one that this one does not. */
export function toAsSold({ service: id, payment }: PaymentRecord, purchase: Purchase): Purchase {
  const { service, invocation } = purchase;
  const { door = "rest", resource } = invocation; // The other doors have one URL for all services.
  if (door !== "rest" || payment.resource?.url !== resource) return purchase;
  return { ...purchase, service: { ...service, manifest: { ...service.manifest, id } } };
}

const SPENT = "This payment was already used for another call; nothing was charged for this one. Sign a new payment";

const isSamePayment = ({ fingerprint }: PaymentRecord, { payment }: Pick<Purchase, "payment">): boolean =>
  fingerprint === payment.authorization.fingerprint;

/** A purchase whose input was not read yet. */
type Asking = Pick<Purchase, "service" | "invocation" | "payment" | "key">;

/**
 * Reads and checks the input of a purchase. @returns `fault` instead of an input for a call on record which the service's
 * schema would not take any more (`isFormer`), or where another payment may have bought that call.
 * @throws Problem `invalid-input` with all faults.
 */
export async function readInput(
  purchase: Asking,
  { recall }: Pick<Reservations, "recall">,
): Promise<Pick<Purchase, "input" | "given" | "fault"> & { readonly isFormer: boolean }> {
  const read = await purchase.invocation.input();
  const given = read.value;
  try {
    return { input: toValidInput(purchase.service, read), given, isFormer: false };
  } catch (error) {
    const record = await recall(purchase.key);
    const isFormer = record && isSamePayment(record, purchase) && isAskedAgain(record, { ...purchase, given });
    if (isFormer || (!record && purchase.payment.identifier !== undefined))
      return { input: undefined, given, isFormer: isFormer === true, fault: error };
    throw error;
  }
}

/** A payer's name across all networks. EVM addresses are lower-cased, since their capitals are only a checksum. */
export const payerOf = (payer: string, { network }: Pick<PaymentRequirements, "network">): string =>
  `${network}:${network.startsWith("eip155:") ? payer.toLowerCase() : payer}`;
