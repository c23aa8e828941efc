import { isObject } from "../../core/json.ts";
import { parsePayment } from "../../core/x402/read-payment.ts";
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
export const toReceiptHeaders = (
  receipt: SettleResponse,
  payment: BroughtPayment | undefined,
): Readonly<Record<string, string>> => ({
  "payment-response": encode(receipt),
  ...(payment?.legacy && { "x-payment-response": encode(inVersion1(receipt, payment)) }),
});

/**
 * The header of a refused settlement: one copy, under the name that its payer reads, because the challenge is in the
 * same head, whose size is limited.
 */
export const toRefusalHeader = (
  receipt: SettleResponse,
  payment: BroughtPayment | undefined,
): readonly [name: string, value: string] =>
  payment?.legacy
    ? ["x-payment-response", encode(inVersion1(receipt, payment))]
    : ["payment-response", encode(receipt)];

/** Version 1 has names of its own for networks: the receipt has the one that the payment had. */
function inVersion1(receipt: SettleResponse, { value }: BroughtPayment): SettleResponse {
  const payment = parsePayment(value);
  const network = isObject(payment) ? payment.network : undefined;
  return typeof network === "string" ? { ...receipt, network } : receipt;
}

const encode = (receipt: SettleResponse): string => Buffer.from(JSON.stringify(receipt)).toString("base64");

/** A payment or a proof beside a message. What is of any other type becomes an empty one, which is refused. */
export const readBrought = (value: unknown): string | object | undefined =>
  typeof value === "string" || isObject(value) ? value : value == null ? undefined : {};

/** The proof in SIGN-IN-WITH-X (x402 extension `sign-in-with-x`). An empty header counts as missing. */
export const readSignInHeader = (headers: RequestHeaders): string | undefined =>
  readHeader(headers, "sign-in-with-x") || undefined;
