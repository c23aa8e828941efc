import type { ExtensionsOf } from "../../core/payments/offers.ts";
import { type BazaarOptions, createBazaar } from "./bazaar.ts";

/**
 * The extensions of every challenge: the directory's entry, which gets the room that the others leave, and that a payment may name its purchase (x402 extension
 * `payment-identifier`).
 */
export function createExtensions(options: BazaarOptions): ExtensionsOf {
  const bazaar = createBazaar(options);
  return (service, resource, room) => ({
    ...bazaar(service, resource, room === undefined ? room : room - TAKEN),
    ...OWN,
  });
}

/** Without its schema, which clients have of their own: a challenge is a header, and payments echo it. */
const IDENTIFIER = { "payment-identifier": { info: { required: false } } };

/** What stands in header and body alike, since buyers echo it. */
const OWN = { ...IDENTIFIER };

/** The bytes of JSON that they take. */
const TAKEN = Buffer.byteLength(JSON.stringify(OWN));
