import { decodePaymentRequiredHeader } from "@x402/core/http";
import { parsePaymentRequired } from "@x402/core/schemas";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { Problem } from "../../api/problem.ts";
import { isDeep } from "../../core/json.ts";
import { isSameToken } from "../../core/rails/tokens.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import { isPrice, toAtomic, toDecimal } from "../../core/set/price.ts";
import { toUint256 } from "../../core/x402/eip3009.ts";
import { field, type SellerResponse, textField } from "./http.ts";

/** One entry of a challenge's `accepts` that this command can pay. */
export interface Offer {
  readonly rail: RailManifest;
  readonly requirements: PaymentRequirements;
  /** Decimal text in the rail's symbol. */
  readonly amount: string;
}

/** The limits for one call by currency, in decimal text. Each applies to its own currency; nothing is converted. */
export interface SpendingLimits extends Readonly<Record<string, string>> {
  readonly usd: string;
  readonly jpy: string;
}

/**
 * The challenge of a 402: its PAYMENT-REQUIRED header, or else its body.
 * @throws Problem `upstream-failed` unless it is a PaymentRequired of x402 v2.
 */
export function readChallenge({ headers, json }: SellerResponse): PaymentRequired {
  const header = headers.get("payment-required");
  const given = header ? decodedChallenge(header) : json;
  const challenge = asPaymentRequired(given);
  if (challenge) return challenge;
  if (isForSignIn(given))
    refuseToPay(
      'this service is free, for a wallet that signs in; "payphone purchases" signs in and shows what was bought',
    );
  const why = whyUnreadable(header ? undefined : json);
  throw new Problem("upstream-failed", `the seller asks for payment, but ${why}: nothing was paid`);
}

/** Why a challenge is no PaymentRequired of x402 v2. */
export const whyUnreadable = (challenge: unknown): string =>
  field(challenge, "x402Version") === 1 ? "it speaks only x402 version 1" : "its challenge is malformed";

/** A value as a PaymentRequired of x402 v2; undefined when it is none. */
export function asPaymentRequired(value: unknown): PaymentRequired | undefined {
  const { success, data } = parsePaymentRequired(value);
  return success && data.x402Version === 2 ? (data as PaymentRequired) : undefined;
}

/** Whether a challenge asks for a sign-in and for no money (x402 extension `sign-in-with-x`). */
function isForSignIn(challenge: unknown): boolean {
  const accepts = field(challenge, "accepts");
  const declared = field(field(challenge, "extensions"), "sign-in-with-x");
  return Array.isArray(accepts) && accepts.length === 0 && declared !== undefined;
}

/** The reason that a 402 gives for refusing a payment. */
export function refusalOf({ headers, json }: SellerResponse): string | undefined {
  const header = headers.get("payment-required");
  return textField(json, "error") ?? textField(header && decodedChallenge(header), "error");
}

/** The JSON of a PAYMENT-REQUIRED header; undefined when it is malformed, or nested too deeply to be printed as JSON. */
export function decodedChallenge(header: string): unknown {
  try {
    const challenge = decodePaymentRequiredHeader(header);
    return isDeep(challenge) ? undefined : challenge;
  } catch {
    return undefined;
  }
}

/** Splits `accepts` into offers on known rails and all others, both in the seller's order. */
export function toOffers(
  { accepts }: PaymentRequired,
  rails: readonly RailManifest[],
): { readonly offers: readonly Offer[]; readonly others: readonly PaymentRequirements[] } {
  const found = accepts.map((requirements) => ({ requirements, rail: rails.find((rail) => fits(requirements, rail)) }));
  return {
    offers: found.flatMap(({ requirements, rail }) =>
      rail ? [{ rail, requirements, amount: toDecimal(BigInt(requirements.amount), rail.decimals) }] : [],
    ),
    others: found.flatMap(({ requirements, rail }) => (rail ? [] : [requirements])),
  };
}

/** Whether the entry is an `exact` payment of the rail's asset, by EIP-3009 on EVM chains. */
function fits(requirements: PaymentRequirements, rail: RailManifest): boolean {
  const { scheme, amount, extra } = requirements;
  const method = extra?.assetTransferMethod ?? "eip3009";
  return scheme === "exact" && isSameToken(requirements, rail) && toUint256(amount) === amount && method === "eip3009";
}

/**
 * Chooses the wanted rail, or else that of the first offer that the wallet has a key for; of several offers on it, the
 * cheapest.
 * @throws Problem `payment-required` that says what to do.
 */
export function chooseOffer(
  offers: readonly Offer[],
  { rail, hasKey }: { readonly rail: string | undefined; readonly hasKey: (rail: RailManifest) => boolean },
): Offer {
  const ids = [...new Set(offers.map((offer) => offer.rail.id))];
  if (ids.length === 0)
    refuseToPay("none of the offers is an exact payment (on EVM by EIP-3009) in a known rail's token");
  if (rail && !ids.includes(rail))
    refuseToPay(`this call is not sold on ${rail}; use --rail ${ids.join(" or --rail ")}`);
  const wanted = offers.filter((offer) => rail === undefined || offer.rail.id === rail);
  const first = wanted.find((offer) => hasKey(offer.rail)) ?? refuseToPay(noKey(wanted));
  const alike = wanted.filter((offer) => offer.rail.id === first.rail.id);
  return alike.reduce((least, offer) => (worth(offer) < worth(least) ? offer : least));
}

const noKey = (offers: readonly Offer[]): string =>
  `there is no wallet to pay with: set ${toVariables(offers.map(({ rail }) => rail))}; a sandbox ("npm start") lends its own`;

/** The variables that hold the buyer's keys for these rails. */
export function toVariables(rails: readonly RailManifest[]): string {
  const names = new Set(rails.map((rail) => (isEvm(rail) ? "EVM" : "SOLANA")));
  return [...names].map((name) => `BUYER_${name}_KEY (or BUYER_${name}_KEY_FILE)`).join(" or ");
}

/** The price in units of 10^-18 of its currency, so that tokens of different decimals compare. */
export const worth = ({ rail, requirements }: Offer): bigint =>
  BigInt(requirements.amount) * 10n ** BigInt(18 - rail.decimals);

/** The price in dollars from an offer, or else from the catalogue; undefined when neither has one. */
function usdOf(offers: readonly Offer[], catalogueUsd: string | undefined): bigint | undefined {
  const inUsd = offers.find(({ rail }) => rail.currency === "usd");
  if (inUsd) return worth(inUsd);
  return catalogueUsd && isPrice(catalogueUsd) ? toAtomic(catalogueUsd, 18) : undefined;
}

/**
 * Checks the price against the limits: that of its own currency, and the dollar limit when its dollar price is known.
 * The dollar price alone allows nothing, because the seller states it.
 * @throws Problem `payment-required` when the offer costs more than the buyer allows.
 */
export function checkLimits(
  offer: Offer,
  {
    offers,
    catalogueUsd,
    limits,
  }: { offers: readonly Offer[]; catalogueUsd: string | undefined; limits: SpendingLimits },
): void {
  const { currency, symbol } = offer.rail;
  const usd = currency === "usd" ? worth(offer) : usdOf(offers, catalogueUsd);
  if (usd !== undefined && usd > toAtomic(limits.usd, 18)) refuseToPay(tooMuch(usd, "USD", "--max-usd ", limits.usd));
  if (currency === "usd") return;
  const limit = limits[currency];
  const flag = currency === "jpy" ? "--max-jpy " : `--max ${currency}=`;
  if (limit === undefined)
    refuseToPay(`this call costs ${offer.amount} ${symbol}; use ${flag}${offer.amount} to pay it, or another --rail`);
  if (worth(offer) > toAtomic(limit, 18)) refuseToPay(tooMuch(worth(offer), symbol, flag, limit));
}

/** @param flag up to its value */
function tooMuch(amount: bigint, symbol: string, flag: string, limit: string): string {
  const text = toDecimal(amount, 18);
  const name = flag.slice(0, -1);
  return `this call costs ${text} ${symbol}, more than the ${limit} that ${name} allows; use ${flag}${text} to pay it`;
}

/** @throws Problem `payment-required`. */
export function refuseToPay(why: string): never {
  throw new Problem("payment-required", `${why}. Nothing was paid.`);
}
