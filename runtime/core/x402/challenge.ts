import type { Manifest, RailManifest, SiteManifest } from "../set/manifest.ts";
import type { PaymentRequired, PaymentRequirements, ResourceInfo } from "./x402.ts";

/** A 402 in every form in which it is sent, encoded once. */
export interface Challenge {
  readonly required: PaymentRequired;
  /** The JSON of `required`. */
  readonly body: Buffer;
  /** Base64 of `body`, for the PAYMENT-REQUIRED header. */
  readonly header: string;
  /** The deprecated V1 body (x402 version 1), computed on demand. */
  v1(): Buffer;
}

/** The `error` of a challenge that refuses nothing. */
export const UNPAID = "Payment required";

/** A 402 in every form in which it is sent. The JSON and its base64 are made once. */
export function createChallenge(required: PaymentRequired, rails: readonly RailManifest[]): Challenge {
  const body = Buffer.from(JSON.stringify(required));
  return {
    required,
    body,
    header: body.toString("base64"),
    v1: () => Buffer.from(JSON.stringify(toV1(required, rails))),
  };
}

/** How a challenge describes what is sold (x402 version 2, ResourceInfo). */
export const toResource = (manifest: Manifest, site: SiteManifest, url: string): ResourceInfo => ({
  url,
  description: manifest.description,
  mimeType: "application/json",
  serviceName: site.title,
  tags: manifest.tags,
  ...(url.startsWith("https:") && { iconUrl: new URL("/icon.png", url).href }),
});

/** The deprecated version 1 of the same challenge (x402-specification-v1, section 5.1). */
function toV1({ error, resource, accepts }: PaymentRequired, rails: readonly RailManifest[]): object {
  return { x402Version: 1, error, accepts: accepts.map((offer) => toV1Offer(offer, resource, rails)) };
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
