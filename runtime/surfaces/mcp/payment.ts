import { isObject } from "../../core/json.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import { type BroughtPayment, toReceiptHeaders } from "../http/payment-headers.ts";
import type { DoorCall } from "../rpc/door.ts";
import type { RpcParams } from "../rpc/json-rpc.ts";
import { knows, type McpVersion } from "./versions.ts";

/** How a tool call ended. */
export interface McpCall extends DoorCall {
  readonly challenge?: Challenge;
}

const PAYMENT_KEY = "x402/payment";
const SIGN_IN_KEY = "x402/sign-in-with-x";
export const RECEIPT_KEY = "x402/payment-response";
/** Cloudflare's `agents` client reads the challenge here and nowhere else. */
const CHALLENGE_KEY = "x402/error";

/** The payment in a call's `_meta` (x402 transport MCP): an object, or base64 text as Cloudflare's client sends it. */
export function metaPaymentOf({ _meta }: RpcParams): BroughtPayment | undefined {
  const value = (isObject(_meta) ? _meta[PAYMENT_KEY] : undefined) ?? undefined;
  if (value === undefined) return undefined;
  // Anything else becomes an empty payment, which is refused as `invalid_payload`.
  return { value: typeof value === "string" || isObject(value) ? value : {}, legacy: false };
}

/** A wallet's proof in a call's `_meta`: an object, or base64 text as in the header. */
export function metaSignInOf({ _meta }: RpcParams): string | object | undefined {
  const value = (isObject(_meta) ? _meta[SIGN_IN_KEY] : undefined) ?? undefined;
  return value === undefined || typeof value === "string" || isObject(value) ? value : {};
}

/**
 * A challenge as a tool's result, in every form that clients read. `structuredContent` is there in all versions, also in
 * those whose other results have none: every version allows results to hold unknown fields.
 */
export function toChallengeResult({ lean }: Challenge, receipt?: SettleResponse): object {
  return {
    content: [{ type: "text", text: JSON.stringify(lean) }],
    structuredContent: lean,
    isError: true,
    _meta: { [CHALLENGE_KEY]: lean, ...(receipt && { [RECEIPT_KEY]: receipt }) },
  };
}

/** A service's output as a tool's result, with the receipt where the call was paid. */
export function toPaidResult(output: unknown, receipt: SettleResponse | undefined, version: McpVersion): object {
  return {
    content: [{ type: "text", text: JSON.stringify(output) }],
    ...(knows(version, "structure") && { structuredContent: output }),
    ...(receipt && { _meta: { [RECEIPT_KEY]: receipt } }),
  };
}

/** The headers of an answer for clients that look at HTTP: the receipt. The challenge stands in the result alone. */
export const toPaymentHeaders = ({ receipt }: McpCall, legacy: boolean): Readonly<Record<string, string>> =>
  receipt ? toReceiptHeaders(receipt, legacy) : {};
