import { withNoun, withStop } from "../../api/text.ts";
import type { Service } from "../../core/service.ts";
import type { Manifest } from "../../core/set/manifest.ts";

/** Whether a call is paid for also when its work fails. */
export const isKept = ({ price, job }: Manifest): boolean => price !== undefined && job?.refund === false;

/** What buyers are told then, before they pay. */
export const KEPT = "A job that fails is not paid back.";

/** What a promise about all services adds where one of them keeps what a failed job has cost. @param it what says so */
export const toUnlessKept = (services: readonly Pick<Service, "manifest">[], it: string): string =>
  services.some(({ manifest }) => isKept(manifest)) ? `, unless ${it} says that a job is not paid back` : "";

/** How often a wallet that signs in may call free of charge: `3 calls an hour`. */
export const toQuota = ({ calls, per }: NonNullable<Manifest["free"]>): string =>
  `${withNoun(calls, "call")} ${per === "hour" ? "an hour" : "a day"}`;

/** What a call costs, in a sentence or two for models and people. @param how text that follows "paid with x402" */
export function toCost(manifest: Manifest, how = ""): string {
  const { price, free, sign_in: needsSignIn } = manifest;
  if (needsSignIn) return "Free, for a wallet that signs in (x402 sign-in-with-x).";
  if (price === undefined) return "Free.";
  const kept = isKept(manifest) ? ` ${KEPT}` : "";
  const cost = `Costs ${price} USD a call, paid with x402${how}.${kept}`;
  return free ? `${cost} A wallet that signs in (x402 sign-in-with-x) gets ${toQuota(free)} free of charge.` : cost;
}

/** What a service does and costs. */
export const toOffered = (manifest: Manifest, how?: string): string =>
  `${withStop(manifest.description)} ${toCost(manifest, how)}`;
