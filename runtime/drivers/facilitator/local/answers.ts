import type { Hex } from "../../../api/capabilities.ts";
import { Problem } from "../../../api/problem.ts";
import type { SettleResponse, VerifyResponse } from "../../../core/x402/x402.ts";
import type { EvmInclusion } from "../../evm/sender/signer.ts";
import type { Declined, Trace } from "./signer.ts";

/** A payment that is not settled, as the answer to its verification. */
export const toInvalid = ({ reason, message }: Declined, payer: Hex): VerifyResponse => ({
  isValid: false,
  invalidReason: reason,
  invalidMessage: message,
  payer,
});

/** The SDK's answer, corrected by the trace. @throws Problem `settlement-unknown` when the money may have moved. */
export function judgeSettlement(
  answer: SettleResponse | { readonly cause: unknown },
  trace: Trace,
  of: PayerOn,
): SettleResponse {
  const transaction = trace.inclusion?.hash ?? trace.submission?.hash;
  if ("cause" in answer) throw outcomeUnknown(of, answer.cause, transaction);
  if (answer.success) return { ...answer, transaction: transaction ?? answer.transaction };
  if (trace.declined) return toDeclinedRefusal(of, trace.declined);
  if (trace.failure !== undefined) throw outcomeUnknown(of, trace.failure);
  if (trace.inclusion?.status === "reverted") return toRevertRefusal(of, trace.inclusion);
  // The authorization was used before, perhaps by an earlier attempt of ours: the chain will tell.
  if (trace.inclusion || answer.errorReason === USED) throw outcomeUnknown(of, answer, transaction);
  const { errorMessage, ...refusal } = answer;
  if (trace.submission) return { ...refusal, errorReason: "settlement_pending", transaction: trace.submission.hash };
  const isUnsent = refusal.errorReason === FAILED; // The estimate has refused it: the SDK cannot tell that from a lost answer.
  const reason = isUnsent && { errorReason: SIMULATED };
  return { ...refusal, ...reason, ...(errorMessage !== undefined && { errorMessage: tokensWordsIn(errorMessage) }) };
}

/** The refusal of a reverted payment; without a transaction, since nothing has moved. */
export const toRevertRefusal = (of: PayerOn, { hash }: EvmInclusion): SettleResponse =>
  toDeclinedRefusal(of, { reason: REVERTED, message: `The transaction ${hash} was reverted; sign a new payment` });

/** The refusal of a payment that is not sent, or whose transaction is no payment. */
export const toDeclinedRefusal = (of: PayerOn, { reason, message }: Declined): SettleResponse => ({
  ...of,
  success: false,
  errorReason: reason,
  errorMessage: message,
  transaction: "",
});

/** The first two lines of viem's message contain the token's own words; the rest describes the request. */
export const tokensWordsIn = (message: string): string => message.split("\n", 2).join(" ").trim();

/** The payer of a payment, and its network. */
export type PayerOn = Pick<SettleResponse, "network"> & { readonly payer: string };

const USED = "invalid_exact_evm_nonce_already_used";
const REVERTED = "invalid_exact_evm_transaction_reverted";
const FAILED = "invalid_exact_evm_transaction_failed";
const SIMULATED = "invalid_exact_evm_transaction_simulation_failed";

/** The Problem of a payment that may have been sent. @param transaction the one that may be it */
export function outcomeUnknown({ network, payer }: PayerOn, cause: unknown, transaction?: string): Problem {
  const detail = `What became of a payment of ${payer} on ${network} is not known yet`;
  return new Problem("settlement-unknown", transaction ? `${detail}; see transaction ${transaction}` : detail, {
    cause,
  });
}
