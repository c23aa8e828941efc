import type { Service } from "../service.ts";
import type { Payment, Refusal } from "../x402/read-payment.ts";

/** An authorization must be valid for at least this long when it is settled (x402 `exact` on EVM). */
export const SETTLE_MARGIN_SECONDS = 6;
/** The longest validity we accept: payments are remembered while they can be used again, and a day suits any client. */
const LONGEST_SECONDS = 24 * 60 * 60;

/**
 * Why a payment's validity dates do not allow it now.
 * @param nowMs Unix milliseconds
 * @param leastSeconds how long the authorization must still be valid
 */
export function explainTime({ authorization }: Payment, nowMs: number, leastSeconds = 0): Refusal | undefined {
  const { validAfter, validBefore } = authorization;
  const now = Math.floor(nowMs / 1000);
  if (validBefore !== undefined && validBefore < earliestEnd(now, leastSeconds)) return "payment_expired";
  if (validBefore !== undefined && validBefore > now + LONGEST_SECONDS) return "payment_valid_too_long";
  return validAfter !== undefined && validAfter > now ? "payment_not_yet_valid" : undefined;
}

/** The earliest end of a validity that leaves time for the work and the settlement; Unix seconds. */
export const earliestEnd = (now: number, leastSeconds: number): number =>
  Math.ceil(now + leastSeconds + SETTLE_MARGIN_SECONDS);

/** Work that is paid for afterwards does not begin when the payment may expire during the work. */
export const leastSecondsOf = ({ manifest: { charge }, job, deadlineMs }: Service): number =>
  charge === "first" || job ? 0 : deadlineMs / 1000;
