import type { Invocation } from "../../call.ts";
import { isSameAddress } from "../../rails/tokens.ts";
import { readEip3009 } from "../../x402/eip3009.ts";
import { show } from "../../x402/explain-payment.ts";
import type { Payment, Refusal } from "../../x402/read-payment.ts";
import type { PaymentRequirements } from "../../x402/x402.ts";
import { earliestEnd } from "../validity.ts";

/** What a payment was compared with. */
export interface Held {
  readonly offers: readonly PaymentRequirements[];
  readonly invocation: Pick<Invocation, "resource" | "networks">;
  /** Unix seconds. */
  readonly now: number;
  /** How long a payment must still be valid for this service. */
  readonly leastSeconds: number;
}

/**
 * Explains why a payment fits no offer: the first field that differs, with both values. Undefined when none differs.
 */
export function explainOffer(
  refusal: Refusal,
  payment: Payment,
  { offers, invocation, now, leastSeconds }: Held,
): string | undefined {
  const { network, resourceUrl } = payment;
  const { validAfter, validBefore } = readEip3009(payment.payload)?.authorization ?? {};
  if (refusal === "payment_not_yet_valid")
    return `payload.authorization.validAfter is ${validAfter}, and now is ${now}`;
  if (refusal === "payment_expired" && validBefore !== undefined) {
    const least = earliestEnd(now, leastSeconds);
    return `payload.authorization.validBefore is ${validBefore}, and must be ${least} at least: now is ${now}`;
  }
  if (refusal === "payment_valid_too_long")
    return `payload.authorization.validBefore is ${validBefore}, and now is ${now}`;
  if (refusal === "unsupported_network") {
    const taken = invocation.networks ?? offers.map((offer) => offer.network);
    const name = payment.accepted ? "accepted.network" : "network";
    return `${name} is ${show(network)}, must be one of ${[...new Set(taken)].join(", ")}`;
  }
  if (refusal === "wrong_resource")
    return resourceUrl === undefined || resourceUrl === invocation.resource
      ? "neither resource.url nor accepted.extra.offerId says which service is paid for"
      : `resource.url is ${show(resourceUrl)}, this is ${invocation.resource}`;
  return refusal === "no_matching_offer" ? explainTerms(payment, offers) : undefined;
}

function explainTerms(payment: Payment, offers: readonly PaymentRequirements[]): string | undefined {
  const { accepted, authorization, scheme, network } = payment;
  const there = offers.filter((one) => one.network === network);
  const isSame = (one: string, other = ""): boolean => isSameAddress(network, one, other);
  const offer = there.find(({ asset }) => isSame(asset, accepted?.asset)) ?? there[0];
  if (!offer) return `network ${network} is not offered now`;
  const terms: readonly (readonly [name: string, given: unknown, offered: unknown])[] = [
    ["scheme", scheme, offer.scheme],
    ...(["asset", "payTo"] as const)
      .filter((key) => !isSame(offer[key], accepted?.[key]))
      .map((key) => [key, accepted?.[key], offer[key]] as const),
    ["amount", accepted?.amount, offer.amount],
    ["maxTimeoutSeconds", accepted?.maxTimeoutSeconds, offer.maxTimeoutSeconds],
    ["the signed amount", authorization.amount, BigInt(offer.amount)],
    ["the signed recipient", authorization.payTo, offer.payTo.toLowerCase()],
    ["extra.offerId", accepted?.extra?.offerId, offer.extra.offerId],
  ];
  const differing = terms.find(([, given, offered]) => given !== undefined && given !== offered);
  if (!differing) return undefined;
  const [name, given, offered] = differing.map((part) => (typeof part === "bigint" ? String(part) : part));
  return `${name} is ${show(given)}, the offer says ${offered}`;
}
