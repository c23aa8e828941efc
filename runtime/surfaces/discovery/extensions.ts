import type { ExtensionsOf } from "../../core/payments/offers/offers.ts";
import type { DescribedSet } from "../schema/shown-set.ts";
import { createBazaar } from "./bazaar.ts";

/**
 * The extensions of every challenge that requires a payment: the directory entry, which gets the room that is left, and
 * x402's `payment-identifier`.
 */
export function createExtensions(set: DescribedSet): ExtensionsOf {
  const bazaar = createBazaar(set);
  return (service, resource, room) => {
    if (service.manifest.price === undefined) return undefined;
    return { ...bazaar(service, resource, room === undefined ? room : room - TAKEN), ...OWN };
  };
}

/** The same in header and body, since buyers echo it. `schema` is omitted: clients know it. */
const OWN = { "payment-identifier": { info: { required: false } } };

/** Its size as JSON, in bytes. */
const TAKEN = Buffer.byteLength(JSON.stringify(OWN));
