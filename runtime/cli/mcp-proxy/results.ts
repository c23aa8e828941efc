import type { PaymentRequired } from "@x402/core/types";
import { Problem } from "../../api/problem.ts";
import { isObject, tryParseJson } from "../../core/json.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import { field, textField } from "../call/http.ts";
import { asPaymentRequired, whyUnreadable } from "../call/offers.ts";
import { failureIn, isDoubtful } from "../call/receipt.ts";
import { isFinal } from "../call/send.ts";

/** A tool's result from another server. */
export type ToolResult = Readonly<Record<string, unknown>>;

/**
 * The challenge of an unpaid call (x402 v2, transport MCP): in `structuredContent`, in `_meta`, or as text.
 * @returns undefined for every other result, also for a challenge that offers no way to pay
 * @throws Problem `upstream-failed` when only x402 version 1 is offered
 */
export function challengeIn(result: ToolResult): PaymentRequired | undefined {
  for (const form of challengesIn(result)) {
    if ((form.accepts as readonly unknown[]).length === 0) return undefined; // It asks for a sign-in only.
    const challenge = asPaymentRequired(form);
    if (challenge) return challenge;
    throw new Problem("upstream-failed", `the seller asks for payment, but ${whyUnreadable(form)}. Nothing was paid.`);
  }
  return undefined;
}

/** Why a payment was refused: the `error` of the new challenge, in any version; undefined for every other result. */
export function refusalIn(result: ToolResult): string | undefined {
  const [form] = challengesIn(result);
  return form && (textField(form, "error") ?? "the seller does not say why");
}

function challengesIn(result: ToolResult): readonly Readonly<Record<string, unknown>>[] {
  if (result.isError !== true) return [];
  const forms = [result.structuredContent, field(result._meta, MCP_KEYS.challenge), ...texts(result).map(tryParseJson)];
  return forms.filter(isObject).filter(({ accepts }) => Array.isArray(accepts));
}

/** A JSON-RPC error as a result, for sellers whose challenge is the data of an error 402. */
export const toErrorResult = (error: unknown): ToolResult | undefined =>
  field(error, "code") === 402 && Array.isArray(field(field(error, "data"), "accepts"))
    ? { isError: true, content: [], structuredContent: field(error, "data") }
    : undefined;

/** JSON-RPC's codes for a message, a method or parameters that will never do. */
const HOPELESS: readonly unknown[] = [-32700, -32600, -32601, -32602];

/** What servers made with the official SDK, up to 1.19, say of a tool's result when the call has been settled already. */
const OF_RESULT = /\boutput schema\b|\bInvalid structured content\b/;

/** A JSON-RPC error for a paid call as a refusal, if sending the call again would not help. */
export const toRefusedCall = (error: unknown): ToolResult | undefined =>
  HOPELESS.includes(field(error, "code")) && !OF_RESULT.test(textField(error, "message") ?? "")
    ? { isError: true, content: [], structuredContent: { accepts: [], error: textField(error, "message") } }
    : undefined;

/**
 * Whether a seller answers a payment with a new challenge although its settlement may have succeeded: by the receipt, or by the
 * words of the stock server, which gives none.
 */
export function isUndecided(result: ToolResult): boolean {
  const receipt = field(result._meta, MCP_KEYS.receipt) ?? failureIn(refusalIn(result));
  return result.isError === true && isDoubtful(receipt);
}

/** How many seconds to wait before sending the same payment again; undefined when the result is final. */
export function secondsToRetry(result: ToolResult): number | undefined {
  if (result.isError !== true) return undefined;
  if (isUndecided(result)) return 2;
  const problem = [result.structuredContent, ...texts(result).map(tryParseJson)].find(isObject);
  if (typeof problem?.status !== "number" || isFinal({ status: problem.status, json: problem })) return undefined;
  return typeof problem.retry_after === "number" ? Math.max(problem.retry_after, 0.2) : 2;
}

/** The transaction in the receipt of a successful settlement, if any. */
export function transactionIn({ _meta }: ToolResult): string | undefined {
  const receipt = field(_meta, MCP_KEYS.receipt);
  return field(receipt, "success") === true ? textField(receipt, "transaction") : undefined;
}

export const toFailure = (text: string): ToolResult => ({ content: [{ type: "text", text }], isError: true });

const texts = ({ content }: ToolResult): string[] =>
  (Array.isArray(content) ? content : []).flatMap((block: unknown) => textField(block, "text") ?? []);
