import type { PaymentRequirements } from "../../../runtime/core/x402/x402.ts";

/** How a payment differs from a valid one. */
export interface PayOptions {
  readonly nonce?: number;
  readonly signature?: string;
  /** The signed amount, in atomic units. */
  readonly value?: string;
  /** The signed recipient. */
  readonly signedTo?: string;
  readonly validForSeconds?: number;
  /** Omits the resource from the payment. */
  readonly resource?: undefined;
  /** The buyer's own name for the purchase (extension `payment-identifier`). */
  readonly identifier?: string;
  /** The payer's address; the same one by default. */
  readonly from?: string;
  /** Changes the offer that the payment names. */
  readonly change?: (offer: PaymentRequirements) => PaymentRequirements;
}

/** An EIP-3009 authorization whose signature a scripted rail does not check. @param at Unix seconds. */
export function authorize(
  { amount, payTo }: Pick<PaymentRequirements, "amount" | "payTo">,
  at: number,
  { nonce = 0, signature, value, signedTo, from, validForSeconds = 300 }: PayOptions,
): object {
  const hex = (length: number): string => `0x${nonce.toString(16).padStart(length, "0")}`;
  return {
    signature: signature ?? hex(130),
    authorization: {
      from: from ?? "0x1111111111111111111111111111111111111111",
      to: signedTo ?? payTo,
      value: value ?? amount,
      validAfter: "0",
      validBefore: String(at + validForSeconds),
      nonce: hex(64),
    },
  };
}

/** A header of base64 JSON. */
export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64");
