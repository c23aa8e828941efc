import type { ExtensionsOf } from "../../core/payments/offers.ts";
import { type BazaarOptions, createBazaar } from "./bazaar.ts";

/**
 * The extensions of every challenge that wants a payment: the directory's entry, which gets the room that the others leave,
 * and that a payment may name its purchase (x402 extension `payment-identifier`).
 */
export function createExtensions(options: BazaarOptions): ExtensionsOf {
  const bazaar = createBazaar(options);
  return (service, resource, room) => {
    if (service.manifest.price === undefined) return undefined;
    return { ...bazaar(service, resource, room === undefined ? room : room - TAKEN), ...OWN };
  };
}

/** What stands in header and body alike, since buyers echo it. `schema` is left out: clients have it of their own. */
const OWN = { "payment-identifier": { info: { required: false } } };

/** The bytes of JSON that it takes. */
const TAKEN = Buffer.byteLength(JSON.stringify(OWN));
