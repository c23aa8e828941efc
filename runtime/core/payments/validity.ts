import type { Service } from "../service.ts";
import type { Payment, Refusal } from "../x402/read-payment.ts";
import { SETTLE_MARGIN_SECONDS } from "./reconciler.ts";

/** A payment is remembered for as long as it could be used again: a day is enough for any client, and for our disk. */
const LONGEST_SECONDS = 24 * 60 * 60;

/**
 * Why a payment cannot be taken at this time, by its own dates.
 * @param nowMs Unix milliseconds
 * @param leastSeconds how long the authorization must live before it is settled
 */
export function explainTime({ authorization }: Payment, nowMs: number, leastSeconds = 0): Refusal | undefined {
  const { validAfter, validBefore } = authorization;
  const now = Math.floor(nowMs / 1000);
  if (validBefore !== undefined && validBefore < now + leastSeconds + SETTLE_MARGIN_SECONDS) return "payment_expired";
  if (validBefore !== undefined && validBefore > now + LONGEST_SECONDS) return "payment_valid_too_long";
  return validAfter !== undefined && validAfter > now ? "payment_not_yet_valid" : undefined;
}

/** Work that is paid for afterwards is not begun for a payment that may expire meanwhile. */
export const leastSecondsOf = ({ manifest: { charge }, job, deadlineMs }: Service): number =>
  charge === "first" || job ? 0 : deadlineMs / 1000;
