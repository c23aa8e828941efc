import type { SettleResponse } from "../../core/x402/x402.ts";
import { type RequestHeaders, readHeader } from "./headers.ts";

/** A payment as a request brought it: base64 text of a header, or an object in a body. */
export interface BroughtPayment {
  readonly value: string | object;
  /** Whether the payment came in X-PAYMENT, whose senders expect X-PAYMENT-RESPONSE (x402 version 1). */
  readonly legacy: boolean;
}

/**
 * The payment in PAYMENT-SIGNATURE, or in the deprecated X-PAYMENT (x402 transport HTTP). An empty header counts as
 * missing.
 */
export function readPaymentHeaders(headers: RequestHeaders): BroughtPayment | undefined {
  const current = readHeader(headers, "payment-signature");
  if (current) return { value: current, legacy: false };
  const legacy = readHeader(headers, "x-payment");
  return legacy ? { value: legacy, legacy: true } : undefined;
}

/** The headers that carry a receipt: PAYMENT-RESPONSE, and X-PAYMENT-RESPONSE for payers that used X-PAYMENT. */
export function toReceiptHeaders(receipt: SettleResponse, legacy: boolean): Readonly<Record<string, string>> {
  const encoded = encode(receipt);
  return { "payment-response": encoded, ...(legacy && { "x-payment-response": encoded }) };
}

/**
 * The header of a refused settlement: one copy, under the name that its payer reads, because the challenge is in the
 * same head, whose size is limited.
 */
export const toRefusalHeader = (receipt: SettleResponse, legacy: boolean): readonly [name: string, value: string] => [
  legacy ? "x-payment-response" : "payment-response",
  encode(receipt),
];

const encode = (receipt: SettleResponse): string => Buffer.from(JSON.stringify(receipt)).toString("base64");

/** The proof in SIGN-IN-WITH-X (x402 extension `sign-in-with-x`). An empty header counts as missing. */
export const readSignInHeader = (headers: RequestHeaders): string | undefined =>
  readHeader(headers, "sign-in-with-x") || undefined;
