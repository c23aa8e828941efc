import { decodePaymentResponseHeader } from "@x402/core/http";
import type { SettleResponse } from "@x402/core/types";
import { isDeep, isObject } from "../../core/json.ts";
import { saysSpent, tellsWhy } from "../../core/x402/failed-settlement.ts";
import { field, type SellerResponse, textField } from "./http.ts";

/**
 * Whether a receipt of a failure leaves open whether money has moved: the transfer is not confirmed yet, or the seller got no
 * answer from its facilitator, or has settled twice and hears that the payment is used. A stock seller sends such a receipt, with
 * 402, also when the transfer was made.
 */
export function isDoubtful(receipt: unknown): boolean {
  const why = { errorReason: textField(receipt, "errorReason"), errorMessage: textField(receipt, "errorMessage") };
  return field(receipt, "success") === false && (saysSpent(why) || !tellsWhy(why));
}

/**
 * What a refusal says of a settlement. A 402 has its receipt, or the body of @x402/express 2.4 and of servers in Python,
 * which send none; a stock server that fails somewhere in its settlement sends an empty mapping, and no challenge. With another
 * status, as for a faulty input, nothing was settled unless the receipt names a transaction.
 */
export function settlementIn(answer: SellerResponse): unknown {
  const { status, headers, json } = answer;
  if (status < 300) return undefined;
  const receipt = receiptIn(answer);
  if (status !== 402) return receipt?.transaction ? receipt : undefined;
  const isSilent = isObject(json) && Object.keys(json).length === 0 && !headers.has("payment-required");
  const isFailure = isSilent || textField(json, "error") === "Settlement failed";
  return receipt ?? (isFailure && { success: false, errorReason: field(json, "details") });
}

/** What is shown of a receipt as text. */
const SHOWN: readonly string[] = ["transaction", "payer", "network"] satisfies (keyof SettleResponse)[];

/** The PAYMENT-RESPONSE header; undefined when it is absent, malformed or too deep. Broken texts in it are left out. */
export function receiptIn({ headers }: SellerResponse): SettleResponse | undefined {
  const header = headers.get("payment-response");
  if (header === null) return undefined;
  try {
    const receipt: unknown = decodePaymentResponseHeader(header);
    if (typeof field(receipt, "success") !== "boolean" || isDeep(receipt)) return undefined;
    const entries = Object.entries(receipt as SettleResponse);
    return Object.fromEntries(
      entries.filter(([name, value]) => (typeof value === "string" && value.isWellFormed()) || !SHOWN.includes(name)),
    ) as SettleResponse;
  } catch {
    return undefined;
  }
}
