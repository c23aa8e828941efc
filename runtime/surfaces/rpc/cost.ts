import type { Manifest } from "../../core/set/manifest.ts";

/** What a call costs, in a sentence or two for models and people. @param how text that follows "paid with x402" */
export function toCost({ price, free, sign_in: needsSignIn }: Manifest, how = ""): string {
  if (needsSignIn) return "Free, for a wallet that signs in (x402 sign-in-with-x).";
  if (price === undefined) return "Free.";
  const cost = `Costs ${price} USD a call, paid with x402${how}.`;
  if (!free) return cost;
  return `${cost} ${free.calls} a${free.per === "hour" ? "n hour" : " day"} are free for a wallet that signs in (x402 sign-in-with-x).`;
}
