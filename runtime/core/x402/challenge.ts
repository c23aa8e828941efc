import type { Manifest, RailManifest, SiteManifest } from "../set/manifest.ts";
import type { PaymentRequired, PaymentRequirements, ResourceInfo } from "./x402.ts";

/** A 402 in every form in which it is sent, encoded once. */
export interface Challenge {
  readonly required: PaymentRequired;
  /** The same with lean extensions, for whoever sends it back with a payment. */
  readonly lean: PaymentRequired;
  /** The JSON of `required`. */
  readonly body: Buffer;
  /** Base64 of the JSON of `lean`, for the PAYMENT-REQUIRED header. */
  readonly header: string;
  /** The deprecated V1 body (x402 version 1), computed on demand. */
  v1(): Buffer;
}

/** The `error` of a challenge that refuses nothing. */
export const UNPAID = "Payment required";

/** The `error` of a challenge that asks for a signature alone. */
export const NOT_SIGNED_IN = "A wallet must sign in";

/** The largest head of a 402, in bytes, unless the site names another: nginx refuses more than 4096 by default. */
export const HEAD_BYTES = 3900;
/** What a head has beside the challenge, with a request id of 64 characters. */
const BESIDE_BYTES = 700;
/** PAYMENT-RESPONSE, which a refusal may have, too. */
const RECEIPT_BYTES = 700;

/** How many bytes of JSON a challenge has left for `extensions` in a head of `headBytes`; may be negative. */
export function roomIn(headBytes: number, { error, ...rest }: Omit<PaymentRequired, "extensions">): number {
  const beside = BESIDE_BYTES + (error === UNPAID ? 0 : RECEIPT_BYTES);
  const most = Math.floor((headBytes - beside) / 4) * 3; // The header is base64.
  return most - Buffer.byteLength(JSON.stringify({ error, ...rest, extensions: {} })) + 2;
}

/** A 402 in every form in which it is sent. The JSON and its base64 are made once. */
export function createChallenge(
  required: PaymentRequired,
  rails: readonly RailManifest[],
  lean: PaymentRequired = required,
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
export const toResource = (manifest: Manifest, site: SiteManifest, url: string): ResourceInfo => ({
  url,
  description: manifest.description,
  mimeType: (!manifest.job && manifest.media?.type) || "application/json",
  serviceName: site.title,
  tags: manifest.tags,
  ...(url.startsWith("https:") && { iconUrl: new URL("/icon.png", url).href }),
});

/**
 * The deprecated version 1 of the same challenge (x402-specification-v1, section 5.1). Its payments name a network and no
 * token, so that of each network only the first token is offered.
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
