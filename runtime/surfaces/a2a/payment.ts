import { isObject, type JsonObject } from "../../core/json.ts";
import { payerOf } from "../../core/payments/purchase.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import type { Refusal } from "../../core/x402/read-payment.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { type RequestHeaders, readHeader } from "../http/headers.ts";
import { readBrought } from "../http/payment-headers.ts";
import type { RpcParams } from "../rpc/json-rpc.ts";
import type { Task } from "./task-book.ts";

/** The URIs that clients use for the x402 extension; all name the same protocol. */
export const X402_EXTENSIONS = [
  "https://github.com/google-agentic-commerce/a2a-x402/blob/main/spec/v0.2",
  "https://github.com/google-a2a/a2a-x402/v0.1",
] as const;

/** The metadata keys of a message (A2A x402 extension, section 7). */
export const X402_KEYS = {
  status: "x402.payment.status",
  required: "x402.payment.required",
  payload: "x402.payment.payload",
  receipts: "x402.payment.receipts",
  error: "x402.payment.error",
} as const;

/** A challenge as a task shows it, in version 2 or 1 of x402. */
export const toRequired = ({ required, v1 }: Challenge, { version1 }: { readonly version1: boolean }): object =>
  version1 ? (JSON.parse(v1().toString("utf8")) as object) : required; // Written by this server.

/** A task's receipts with one more; a receipt of the same transaction is replaced. */
export function withReceipt(
  { payment }: Pick<Task, "payment">,
  receipt: SettleResponse | undefined,
): readonly SettleResponse[] {
  const known = payment?.receipts ?? [];
  if (!receipt) return known;
  return [...known.filter(({ transaction }) => !transaction || transaction !== receipt.transaction), receipt];
}

/** The metadata of a message; empty where there is none. */
export const metadataOf = ({ message }: RpcParams): JsonObject =>
  isObject(message) && isObject(message.metadata) ? message.metadata : {};

const SIGN_IN_KEY = "x402.sign-in-with-x";

/** A wallet's proof in a message's metadata: an object, or base64 text as in the header SIGN-IN-WITH-X. */
export const readMessageSignIn = (params: RpcParams): string | object | undefined =>
  readBrought(metadataOf(params)[SIGN_IN_KEY]);

/** The error codes of the A2A x402 extension, section 9.1. */
const CODES: Readonly<Record<Refusal, string>> = {
  invalid_payload: "INVALID_SIGNATURE",
  invalid_identifier: "INVALID_SIGNATURE",
  unsupported_version: "INVALID_SIGNATURE",
  unsupported_network: "NETWORK_MISMATCH",
  no_matching_offer: "INVALID_AMOUNT",
  wrong_resource: "INVALID_AMOUNT",
  payment_expired: "EXPIRED_PAYMENT",
  payment_not_yet_valid: "EXPIRED_PAYMENT",
  payment_valid_too_long: "EXPIRED_PAYMENT",
  insufficient_funds: "INSUFFICIENT_FUNDS",
  invalid_signature: "INVALID_SIGNATURE",
  authorization_used: "DUPLICATE_NONCE",
  payment_rejected: "SETTLEMENT_FAILED",
};

/** The payment was already used for another call. */
export const DUPLICATE_NONCE = CODES.authorization_used;

/** The code for a challenge's `error`, whose first word is a Refusal. */
export function toPaymentCode(error: string): string {
  const [word = ""] = error.split(":");
  return (CODES as Readonly<Record<string, string>>)[word] ?? CODES.payment_rejected;
}

/** The payment part of a message: a payload, a refusal to pay, or nothing. */
export type PaymentMessage = { readonly payment: string | object } | "rejected" | undefined;

/** Reads a message's metadata (sections 5.4 and 5.5). A payload counts whatever the status beside it says. */
export function readPaymentMessage(metadata: Readonly<Record<string, unknown>>): PaymentMessage {
  const payment = readBrought(metadata[X402_KEYS.payload]);
  if (payment !== undefined) return { payment };
  const status = metadata[X402_KEYS.status];
  if (status === "payment-submitted") return { payment: {} };
  return status === "payment-rejected" ? "rejected" : undefined;
}

/** The account of the payer, which is the signer, whatever the facilitator reports; undefined when it is unknown. */
export const toPayingAccount = (receipt: SettleResponse): string | undefined =>
  receipt.payer === undefined ? undefined : payerOf(receipt.payer, receipt);

/** The request headers that activate extensions: A2A 1.0's, then 0.3's. */
const ACTIVATION = ["a2a-extensions", "x-a2a-extensions"];

/**
 * The response headers that confirm which of the requested extensions are active (1.0, section 4.6), and that let
 * browsers read them.
 */
export function toActivated(headers: RequestHeaders): Record<string, string> {
  const echoes = ACTIVATION.map((name): [string, string] => {
    const asked = (readHeader(headers, name) ?? "").split(",").map((uri) => uri.trim());
    return [name, X402_EXTENSIONS.filter((uri) => asked.includes(uri)).join(", ")];
  });
  const active = echoes.filter(([, known]) => known !== "");
  if (active.length === 0) return {};
  return { ...Object.fromEntries(active), "access-control-expose-headers": active.map(([name]) => name).join(", ") };
}
