import type { SettleResponse } from "./x402.ts";

/**
 * Error reasons that mean "refused before anything was sent", if the chain agrees that nothing has moved: codes, and
 * revert messages of a token's simulation. Other reasons concern the facilitator's own troubles.
 */
const REFUSED =
  /^(?=\w*$).*(?:insufficient|balance|invalid|mismatch|simulation|unsupported|blacklist|paused|not_allowed|deployment_failed)|\breverted\b/i;
/** Reasons that may mean that the money has already moved, which our node may not show yet. */
const SPENT = /(?<!pa|ref|ca)used|already|duplicate/i; // What is paused, refused or caused moves nothing.
/**
 * The reason of x402's library for every error of a broadcast: no gas, and also a node that has taken the transaction and
 * whose answer was lost. Nothing was sent only where the token has said so.
 */
const FAILED = /transaction_failed$/;
const REVERTED = /\breverted\b/;

/** Whether a facilitator has refused a settlement before anything was sent, if the chain agrees that nothing has moved. */
export function hasRefused({ success, transaction, errorReason, errorMessage }: SettleResponse): boolean {
  const reason = errorReason ?? "";
  if (success || transaction !== "" || !REFUSED.test(reason) || SPENT.test(reason)) return false;
  return !FAILED.test(reason) || REVERTED.test(errorMessage ?? "");
}

/** Whether a facilitator has neither settled nor refused: it may have sent the payment, or another one may send it. */
export const isTroubled = (answer: SettleResponse): boolean =>
  !answer.success && answer.transaction === "" && !hasRefused(answer) && !SPENT.test(answer.errorReason ?? "");

/** Whether an offer names a fee payer that this facilitator has no longer: nothing was sent. The reason is the library's. */
export const hasForeignFeePayer = (reason: string | undefined): boolean =>
  reason?.includes("fee_payer_not_managed") === true;

/** Whether a failed settlement tells a payer why nothing has moved. */
export function tellsWhy({ errorReason = "", errorMessage = "" }: Why): boolean {
  if (FAILED.test(errorReason)) return REVERTED.test(errorMessage);
  return REFUSED.test(errorReason) || SPENT.test(errorReason);
}

/** Whether a failed settlement says that the payment was used before: of one that is new, only its own transfer can be the reason. */
export const saysSpent = ({ errorReason = "", errorMessage = "" }: Why): boolean =>
  SPENT.test(errorReason) || SPENT.test(errorMessage);

interface Why {
  readonly errorReason?: string | undefined;
  readonly errorMessage?: string | undefined;
}
