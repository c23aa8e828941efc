import { type Manifest, mediaOf, type RailManifest, type SiteManifest } from "../set/manifest.ts";
import type { PaymentRequired, PaymentRequirements, ResourceInfo } from "./x402.ts";

/** A 402 in every form that is sent, encoded once. */
export interface Challenge {
  readonly required: PaymentRequired;
  /** The challenge with the short extensions, which clients echo in the payment. */
  readonly lean: PaymentRequired;
  /** The JSON of `required`. */
  readonly body: Buffer;
  /** Base64 of the JSON of `lean`, for the PAYMENT-REQUIRED header. */
  readonly header: string;
  /** The deprecated V1 body (x402 version 1), computed on demand. */
  v1(): Buffer;
}

/** The `error` of a challenge when no payment was refused. */
export const UNPAID = "Payment required";

/** What a refused call has cost: an expired or used payment may have been charged for an earlier call. */
export const toCharged = (error: string): string =>
  /^(?:payment_expired|authorization_used)\b/.test(error)
    ? "this call was not charged, but an earlier one with the same payment may have been"
    : "nothing was charged";

/** The `error` of a challenge that asks only for a sign-in. */
export const NOT_SIGNED_IN = "A wallet must sign in";

/** The default limit of the size of a 402's head, in bytes: nginx refuses more than 4096 by default. */
export const HEAD_BYTES = 3900;
/** The bytes of the head besides the challenge, with a request id of 64 characters. */
const BESIDE_BYTES = 700;
/** The bytes of PAYMENT-RESPONSE, which a refusal may have. */
const RECEIPT_BYTES = 700;

/** The bytes of JSON that are left for `extensions` in a head of `headBytes`; may be negative. */
export function roomIn(headBytes: number, { error, ...rest }: Omit<PaymentRequired, "extensions">): number {
  const beside = BESIDE_BYTES + (error === UNPAID ? 0 : RECEIPT_BYTES);
  const most = Math.floor((headBytes - beside) / 4) * 3; // The header is base64.
  return most - Buffer.byteLength(JSON.stringify({ error, ...rest, extensions: {} })) + 2;
}

/** Makes a 402. The JSON and its base64 are made once. */
export function createChallenge(
  required: PaymentRequired,
  rails: readonly RailManifest[],
  lean: PaymentRequired,
): Challenge {
  return {
    required,
    lean,
    body: Buffer.from(JSON.stringify(required)),
    header: Buffer.from(JSON.stringify(lean)).toString("base64"),
    v1: () => Buffer.from(JSON.stringify(toV1(required, rails))),
  };
}

/** How a challenge describes what is sold (x402 version 2, ResourceInfo). */
export const toResource = (manifest: Manifest, site: SiteManifest, url: string, baseUrl: string): ResourceInfo => ({
  url,
  description: manifest.description,
  mimeType: mediaOf(manifest)?.type ?? "application/json",
  serviceName: site.title,
  tags: manifest.tags,
  ...(url.startsWith("https:") && { iconUrl: `${baseUrl}/icon.png` }),
});

/**
 * The deprecated version 1 of the challenge (x402-specification-v1, section 5.1). A v1 payment names a network but no
 * token, so only the first token of each network is offered.
 */
function toV1({ error, resource, accepts }: PaymentRequired, rails: readonly RailManifest[]): object {
  const firsts = accepts.filter(({ network }, at) => accepts.findIndex((offer) => offer.network === network) === at);
  return { x402Version: 1, error, accepts: firsts.map((offer) => toV1Offer(offer, resource, rails)) };
}

function toV1Offer(offer: PaymentRequirements, resource: ResourceInfo, rails: readonly RailManifest[]): object {
  const { scheme, network, amount, payTo, maxTimeoutSeconds, asset, extra } = offer;
  return {
    scheme,
    network: rails.find((rail) => rail.network === network)?.id ?? network,
    maxAmountRequired: amount,
    resource: resource.url,
    description: resource.description,
    mimeType: resource.mimeType,
    payTo,
    maxTimeoutSeconds,
    asset,
    extra,
  };
}
