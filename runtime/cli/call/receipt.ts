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

/** How stock servers, and x402's examples, say that a settlement failed: `error` where their facilitator gave no answer. */
const FAILURE = /^(?:Payment s|S)ettlement (?:failed|error)(?:: ([^:]+)(.*))?/s;
/** How Cloudflare's and thirdweb's do: by their facilitator's reason alone, of those that only a settlement has. */
const BARE = /^(?:SETTLEMENT_FAILED$|(?=(\w*)$)\w*?(?:settle|transaction_failed|confirm))/;

/** The failed settlement of which the `error` of a refusal tells; undefined when it tells of none. */
export function failureIn(error = ""): Pick<SettleResponse, "success" | "errorReason" | "errorMessage"> | undefined {
  const said = FAILURE.exec(error) ?? BARE.exec(error);
  if (!said) return undefined;
  const [, errorReason, errorMessage] = said;
  return { success: false, ...(errorReason && { errorReason }), ...(errorMessage && { errorMessage }) };
}

/**
 * What a refusal says of a settlement. A 402 has its receipt, or the body has an `error`, which most servers explain in other
 * fields; a stock server that fails somewhere in its settlement sends an empty mapping, and no challenge. With another status,
 * as for a faulty input, nothing was settled unless the receipt names a transaction.
 */
export function settlementIn(answer: SellerResponse): unknown {
  const { status, headers, json } = answer;
  if (status < 300) return undefined;
  const receipt = receiptIn(answer);
  if (status !== 402) return receipt?.transaction ? receipt : undefined;
  const isSilent = isObject(json) && Object.keys(json).length === 0 && !headers.has("payment-required");
  const failure = isSilent ? { success: false } : failureIn(textField(json, "error"));
  const more = { errorReason: textField(json, "details"), errorMessage: textField(json, "errorMessage") };
  return receipt ?? (failure && { ...more, ...failure });
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
