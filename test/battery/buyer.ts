import { setTimeout as sleep } from "node:timers/promises";
import { x402Client } from "@x402/core/client";
import { decodePaymentRequiredHeader, encodePaymentSignatureHeader } from "@x402/core/http";
import type { Network, PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import type { PrivateKeyAccount } from "viem/accounts";
import { authorizationOf } from "./money.ts";

/** A paid call. */
export interface PaidCall {
  readonly method: string;
  readonly url: string;
  /** JSON; undefined for a GET. */
  readonly body?: unknown;
}

/** A signed payment for one call, which a hostile buyer also sends elsewhere. */
export interface SignedPayment {
  /** The PAYMENT-SIGNATURE header. */
  readonly header: string;
  readonly nonce: string;
  /** Atomic units. */
  readonly amount: string;
}

export interface SellerAnswer {
  /** 0 when no answer came. */
  readonly status: number;
  readonly text: string;
  readonly retryAfterSeconds: number;
}

const NO_ANSWER: SellerAnswer = { status: 0, text: "", retryAfterSeconds: 0 };
/** How long one answer is waited for. */
const PATIENCE_MS = 30_000;
/** How long a result is asked for again. */
const PERSISTENCE_MS = 75_000;
/** A seller that refuses a payment so often in a row has refused it for good. */
const MOST_REFUSALS = 4;

export const isResult = ({ status }: SellerAnswer): boolean => status >= 200 && status < 300;

/** Fetches the challenge of a call and signs its first EIP-3009 offer. @throws Error when there is none. */
export async function sign(account: PrivateKeyAccount, call: PaidCall): Promise<SignedPayment> {
  const response = await request(call, {}, AbortSignal.timeout(PATIENCE_MS));
  const required = readChallenge(response.headers.get("payment-required"), await response.text());
  const offer = required?.accepts.find(isPayable);
  if (!required || !offer)
    throw new Error(
      `${call.url} answered ${response.status} without an x402 v2 offer of USDC by EIP-3009 on an EVM chain`,
    );
  const { network, asset, amount } = offer;
  const client = new x402Client()
    .register(network as Network, new ExactEvmScheme(account))
    .setSpendControls({ allowedAssets: [{ network: network as Network, asset, maxAmountPerPayment: amount }] });
  const payment = await client.createPaymentPayload({ ...required, accepts: [offer] });
  return { header: encodePaymentSignatureHeader(payment), nonce: authorizationOf(payment).nonce, amount };
}

/** Sends a call with a payment. It never rejects: an answer that does not come has status 0. */
export async function send(call: PaidCall, { header }: SignedPayment, signal?: AbortSignal): Promise<SellerAnswer> {
  const patience = AbortSignal.timeout(PATIENCE_MS);
  try {
    const response = await request(
      call,
      { "payment-signature": header },
      signal ? AbortSignal.any([signal, patience]) : patience,
    );
    const text = await response.text();
    return { status: response.status, text, retryAfterSeconds: Number(response.headers.get("retry-after")) || 0 };
  } catch {
    return NO_ANSWER;
  }
}

/** Sends the same payment again until a result comes, or the seller has clearly refused it. Gives the last answer. */
export async function obtain(call: PaidCall, payment: SignedPayment): Promise<SellerAnswer> {
  const end = performance.now() + PERSISTENCE_MS;
  let refusals = 0;
  for (;;) {
    const answer = await send(call, payment);
    refusals = answer.status === 402 ? refusals + 1 : 0;
    if (isResult(answer) || refusals >= MOST_REFUSALS || performance.now() > end) return answer;
    await sleep(Math.min(Math.max(answer.retryAfterSeconds, 0.5), 5) * 1000);
  }
}

/** Sends a call, without a payment unless the headers have one. */
export const request = (call: PaidCall, headers: Record<string, string>, signal: AbortSignal): Promise<Response> =>
  fetch(call.url, {
    method: call.method,
    headers: { ...(call.body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(call.body !== undefined && { body: JSON.stringify(call.body) }),
    signal,
  });

function readChallenge(header: string | null, body: string): PaymentRequired | undefined {
  try {
    return header === null ? (JSON.parse(body) as PaymentRequired) : decodePaymentRequiredHeader(header);
  } catch {
    return undefined;
  }
}

const isPayable = ({ scheme, network, extra }: PaymentRequirements): boolean =>
  scheme === "exact" && network.startsWith("eip155:") && (extra?.assetTransferMethod ?? "eip3009") === "eip3009";
