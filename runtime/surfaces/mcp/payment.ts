import type { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import type { Challenge } from "../../core/x402/challenge.ts";
import type { SettleResponse } from "../../core/x402/x402.ts";
import type { RpcParams } from "../json-rpc.ts";
import { type McpHeaders, readHeader } from "./headers.ts";
import { knows, type McpVersion } from "./versions.ts";

/** A payment as a call brought it: base64 text, or an object. */
export interface McpPayment {
  readonly value: string | object;
  /** Whether it came as X-PAYMENT, whose senders look for X-PAYMENT-RESPONSE. */
  readonly legacy: boolean;
}

/** How a call went, as far as payment and log are concerned. */
export interface McpCall {
  readonly service: string;
  readonly challenge?: Challenge;
  readonly receipt?: SettleResponse;
  readonly problem?: Problem;
}

const PAYMENT_KEY = "x402/payment";
const RECEIPT_KEY = "x402/payment-response";
/** Cloudflare's `agents` client reads the challenge here and nowhere else. */
const CHALLENGE_KEY = "x402/error";

/** The payment in a call's `_meta` (x402 transport MCP): an object, or base64 text as Cloudflare's client sends it. */
export function metaPaymentOf({ _meta }: RpcParams): McpPayment | undefined {
  const value = (isObject(_meta) ? _meta[PAYMENT_KEY] : undefined) ?? undefined;
  if (value === undefined) return undefined;
  // What is neither is refused where payments are read, as a payment without any of its parts.
  return { value: typeof value === "string" || isObject(value) ? value : {}, legacy: false };
}

/** The payment in the request's headers (specification 5.4): PAYMENT-SIGNATURE, or the deprecated X-PAYMENT. */
export function headerPaymentOf(headers: McpHeaders): McpPayment | undefined {
  const current = readHeader(headers, "payment-signature");
  if (current) return { value: current, legacy: false };
  const legacy = readHeader(headers, "x-payment");
  return legacy ? { value: legacy, legacy: true } : undefined;
}

/**
 * A challenge as a tool's result, in every form that a payer in the field reads. It has its `structuredContent` in all
 * versions, also where results of tools have none yet: specification 5.4 promises it, and every version lets results
 * hold more than it knows.
 */
export function toChallengeResult({ required, body }: Challenge, receipt?: SettleResponse): object {
  return {
    content: [{ type: "text", text: body.toString() }],
    structuredContent: required,
    isError: true,
    _meta: { [CHALLENGE_KEY]: required, ...(receipt && { [RECEIPT_KEY]: receipt }) },
  };
}

/** What was paid for, and the receipt. */
export function toPaidResult(output: unknown, receipt: SettleResponse | undefined, version: McpVersion): object {
  return {
    content: [{ type: "text", text: JSON.stringify(output) }],
    ...(knows(version, "structure") && { structuredContent: output }),
    ...(receipt && { _meta: { [RECEIPT_KEY]: receipt } }),
  };
}

/** The headers that an answer carries for payers who look at HTTP: the challenge, and the receipt. */
export function toPaymentHeaders({ challenge, receipt }: McpCall, legacy: boolean): Record<string, string> {
  const encoded = receipt && Buffer.from(JSON.stringify(receipt)).toString("base64");
  return {
    ...(challenge && { "payment-required": challenge.header }),
    ...(encoded && { "payment-response": encoded }),
    ...(encoded && legacy && { "x-payment-response": encoded }),
  };
}
