import { PROBLEMS, type ProblemCode } from "../../../api/problem.ts";

/** Why payments are refused, and what a seller can do about it. Buyers see only the code, in a 402. */
const REFUSALS: Readonly<Record<string, string>> = {
  invalid_payload: "The payment cannot be read: the buyer's client is broken.",
  invalid_identifier: "The payment-identifier is malformed.",
  unsupported_version: "Neither x402 version 2 nor 1.",
  unsupported_network: "Paid on a network that is not taken here: perhaps a rail worth adding.",
  no_matching_offer:
    "Paid for an offer that is not this one: an old price, a changed address, or one that has run out.",
  wrong_resource: "The payment was made for another service.",
  sign_in_refused: "A wallet's proof did not count.",
  free_calls_used: "The wallet's free calls are used up.",
  payment_expired: "The authorization had expired, or would have before the service could finish.",
  payment_not_yet_valid: "The authorization begins later: the buyer's clock is wrong.",
  payment_valid_too_long: "The authorization is valid for more than a day.",
  insufficient_funds: "The buyer has too little of the token.",
  invalid_signature: "The signature is not the payer's.",
  authorization_used: "The authorization was used before.",
  payment_rejected: "The facilitator refused it for another reason.",
};

export const toRefusalMeaning = (reason: string): string =>
  (Object.hasOwn(REFUSALS, reason) && REFUSALS[reason]) || "A reason of the facilitator's own; the log has it.";

/** The meaning of a problem's code, in the words that buyers get. */
export const toFailureMeaning = (code: string): string =>
  Object.hasOwn(PROBLEMS, code)
    ? `${PROBLEMS[code as ProblemCode].status}: ${PROBLEMS[code as ProblemCode].title}.`
    : "";
