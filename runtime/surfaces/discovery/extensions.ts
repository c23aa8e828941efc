import type { ExtensionsOf } from "../../core/payments/offers.ts";
import { type BazaarOptions, createBazaar } from "./bazaar.ts";

/**
 * The extensions of every challenge: the directory's entry, and that a payment may name its purchase (x402 extension
 * `payment-identifier`).
 */
export function createExtensions(options: BazaarOptions): ExtensionsOf {
  const bazaar = createBazaar(options);
  return (service, resource) => ({ ...bazaar(service, resource), ...IDENTIFIER });
}

/** Without the schema, which clients have of their own: a challenge is a header, and payments echo it. */
const IDENTIFIER = { "payment-identifier": { info: { required: false } } };
