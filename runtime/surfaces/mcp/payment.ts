import { sha256 } from "../../core/digest.ts";
import { isObject } from "../../core/json.ts";
import type { MediaOutput } from "../../core/proxy/media.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { type Challenge, NOT_SIGNED_IN, toCharged, UNPAID } from "../../core/x402/challenge.ts";
import { MCP_KEYS } from "../../core/x402/mcp-keys.ts";
import type { PaymentRequired, SettleResponse } from "../../core/x402/x402.ts";
import { type BroughtPayment, readBrought, toReceiptHeaders } from "../http/payment-headers.ts";
import { toQuota } from "../rpc/cost.ts";
import type { DoorCall } from "../rpc/door.ts";
import type { RpcParams } from "../rpc/json-rpc.ts";
import { knows, type McpVersion } from "./versions.ts";

/** How a tool call ended. */
export interface McpCall extends DoorCall {
  readonly challenge?: Challenge;
}

/** The key of Vercel's `x402-mcp`, which is older than the transport. */
const VERCEL_KEY = "x402.payment";

/** The payment in a call's `_meta` (x402 transport MCP): an object, or base64 text, as Cloudflare's and Vercel's send it. */
export function metaPaymentOf({ _meta }: RpcParams): BroughtPayment | undefined {
  const value = isObject(_meta) ? readBrought(_meta[MCP_KEYS.payment] ?? _meta[VERCEL_KEY]) : undefined;
  return value === undefined ? undefined : { value, legacy: isObject(value) && value.x402Version === 1 };
}

/** A wallet's proof in a call's `_meta`: an object, or base64 text as in the header. */
export const metaSignInOf = ({ _meta }: RpcParams): string | object | undefined =>
  isObject(_meta) ? readBrought(_meta[MCP_KEYS.signIn]) : undefined;

/** What the sentence about a challenge names. */
export interface Sold {
  readonly manifest: Manifest;
  /** The titles of rails by `<network> <asset>`. */
  readonly titles: ReadonlyMap<string, string>;
}

/**
 * A challenge as a tool's result: a sentence for models, and the challenge for clients that pay, in `structuredContent`
 * (x402 transport MCP). Versions without `structuredContent` get it as well: every version allows results to hold
 * unknown fields.
 */
export function toChallengeResult({ lean, required }: Challenge, sold: Sold, receipt?: SettleResponse): object {
  const offers = required.extensions?.["offer-receipt"];
  const { extensions, ...bare } = lean;
  const { bazaar: _bazaar, ...echoed } = extensions ?? {};
  return {
    content: [{ type: "text", text: toSentence(lean, sold) }],
    structuredContent: lean,
    isError: true,
    _meta: {
      [MCP_KEYS.challenge]: extensions ? { ...bare, extensions: echoed } : bare,
      ...(offers !== undefined && { [MCP_KEYS.offers]: offers }),
      ...(receipt && { [MCP_KEYS.receipt]: receipt }),
    },
  };
}

/** The challenge as a tool's result in x402 version 1, for clients that ask for it. */
export function toVersion1Result(challenge: Challenge, sold: Sold, receipt?: SettleResponse): object {
  const v1 = JSON.parse(challenge.v1().toString("utf8")) as object; // Written by this server.
  return {
    content: [{ type: "text", text: toSentence(challenge.lean, sold) }],
    structuredContent: v1,
    isError: true,
    _meta: { [MCP_KEYS.challenge]: v1, ...(receipt && { [MCP_KEYS.receipt]: receipt }) },
  };
}

function toSentence({ error, accepts }: PaymentRequired, { manifest: { price, free }, titles }: Sold): string {
  if (price === undefined) {
    const refused = error === NOT_SIGNED_IN ? "" : `The proof was not accepted (${error}). `;
    return `${refused}This tool is free for a wallet that signs in. Your client has to ${SIGN}. ${WITHOUT_WALLET}`;
  }
  const ways = [...new Set(accepts.map(({ network, asset }) => titles.get(`${network} ${asset}`) ?? network))].join(
    " or ",
  );
  const brought = OF_A_PROOF.test(error) ? "proof" : "payment";
  const refused = error === UNPAID ? "" : `The ${brought} was not accepted (${error}). `;
  const quota = free ? ` A wallet that signs in gets ${toQuota(free)} free of charge: ${SIGN}.` : "";
  return (
    `${refused}This tool costs ${price} USD a call; ${toCharged(error)}. Your client has to pay with x402, in ${ways}: ` +
    "sign one of `accepts` in structuredContent, and repeat the identical call with the payment in " +
    `_meta["${MCP_KEYS.payment}"].${quota} ${WITHOUT_WALLET}`
  );
}

/** The refusals of a call that has brought a sign-in proof and no payment. */
const OF_A_PROOF = /^(?:sign_in_refused|free_calls_used):/;
const SIGN = `sign extensions["sign-in-with-x"] in structuredContent, and repeat the call with it in _meta["${MCP_KEYS.signIn}"]`;
const WITHOUT_WALLET = "If it has no wallet, tell your user that a client which pays with x402 is needed.";

/** The result of a paid or free call. */
export interface PaidOutput {
  readonly output: unknown;
  readonly file: MediaOutput | undefined;
  /** The content blocks of another server's tool, passed on unchanged. */
  readonly blocks: readonly object[] | undefined;
  /** Set when the call was paid. */
  readonly receipt: SettleResponse | undefined;
}

/**
 * A service's output as a tool's result, with the receipt when the call was paid. A file is a content block of its own.
 */
export function toPaidResult({ output, file, blocks, receipt }: PaidOutput, version: McpVersion): object {
  if (file) return { content: toFileContent(file), ...(receipt && { _meta: { [MCP_KEYS.receipt]: receipt } }) };
  return {
    content: blocks ?? [{ type: "text", text: JSON.stringify(output) }],
    ...(knows(version, "structure") && { structuredContent: output }),
    ...(receipt && { _meta: { [MCP_KEYS.receipt]: receipt } }),
  };
}

/** The content blocks of an output, when its service is a tool of another MCP server that answers with blocks. */
export function toBlocks({ proxy }: Manifest, output: unknown): readonly object[] | undefined {
  const content = proxy?.mcp !== undefined && isObject(output) && Array.isArray(output.content) ? output.content : [];
  const areBlocks = content.length > 0 && content.every((block) => isObject(block) && typeof block.type === "string");
  return areBlocks ? content : undefined;
}

/**
 * A file as an image or an embedded resource (MCP 2025-06-18, server/tools, "Tool Result"), and a sentence about it.
 */
function toFileContent({ media, data, age_seconds }: MediaOutput): readonly object[] {
  const age = age_seconds === undefined ? "" : `, ${age_seconds} seconds old`;
  const about = { type: "text", text: `A file of type ${media}${age}.` };
  if (media.startsWith("image/")) return [{ type: "image", data, mimeType: media }, about];
  const resource = { uri: `urn:sha256:${sha256(data)}`, mimeType: media, blob: data };
  return [{ type: "resource", resource }, about];
}

/** The HTTP headers of an answer: the receipt. The challenge is in the result only. */
export const toPaymentHeaders = (
  { receipt }: McpCall,
  payment: BroughtPayment | undefined,
): Readonly<Record<string, string>> => (receipt ? toReceiptHeaders(receipt, payment) : {});
