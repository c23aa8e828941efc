import { randomUUID } from "node:crypto";
import type { PaymentRequired } from "@x402/core/types";
import { Problem } from "../../api/problem.ts";
import { field } from "./http.ts";

const EXTENSION = "payment-identifier";

/** A challenge with the purchase's name in it, and the name; without a name when the seller accepts none. */
export interface NamedChallenge {
  readonly challenge: PaymentRequired;
  readonly identifier: string | undefined;
}

/**
 * Puts a name of the purchase into the challenge before it is paid (x402 extension `payment-identifier`).
 * @param wanted the buyer's own name; a random one by default
 * @throws Problem `payment-required` when the buyer gave a name and the seller accepts none.
 */
export function nameIn(challenge: PaymentRequired, wanted: string | undefined): NamedChallenge {
  const declared = challenge.extensions?.[EXTENSION];
  const info = field(declared, "info");
  if (typeof field(info, "required") !== "boolean") {
    if (wanted === undefined) return { challenge, identifier: undefined };
    const why = "the seller takes no payment-identifier, so this call would be charged again. Nothing was paid.";
    throw new Problem("payment-required", why);
  }
  const identifier = wanted ?? `pay_${randomUUID().replaceAll("-", "")}`;
  const named = { ...(declared as object), info: { ...(info as object), id: identifier } };
  return { challenge: { ...challenge, extensions: { ...challenge.extensions, [EXTENSION]: named } }, identifier };
}
