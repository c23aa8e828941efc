import type { x402Client } from "@x402/core/client";
import type { PaymentPayload, PaymentRequirements, SettleResponse, VerifyResponse } from "@x402/core/types";
import type { PaymentPayloadV1, PaymentRequirementsV1 } from "@x402/core/types/v1";
import { rail, type TestSandbox } from "../support/chains/chains.ts";
import { createBuyer } from "../support/sellers/stock-buyer.ts";

/** Payment requirements on one of the sandbox's rails, payable to its treasury; `amount` in atomic units. */
export async function requirementsOn(sandbox: TestSandbox, id: string, amount: bigint): Promise<PaymentRequirements> {
  const { network, asset, pay_to, domain } = rail(id);
  const answer = await fetch(`${sandbox.description.facilitator}/supported`);
  const { kinds } = (await answer.json()) as { kinds: { network: string; extra?: Record<string, unknown> }[] };
  return {
    scheme: "exact",
    network: network as PaymentRequirements["network"],
    asset,
    amount: String(amount),
    payTo: sandbox.env[pay_to]!,
    maxTimeoutSeconds: 300,
    extra: { ...domain, ...kinds.find((kind) => kind.network === network)?.extra },
  };
}

/** A payment for these requirements, signed by the stock client. */
export async function pay(sandbox: TestSandbox, requirements: PaymentRequirements): Promise<PaymentPayload> {
  const client = await createBuyer(sandbox);
  return client.createPaymentPayload({ x402Version: 2, resource: { url: RESOURCE }, accepts: [requirements] });
}

/** The same in version 1 of the protocol. */
export async function payV1(
  sandbox: TestSandbox,
  { network, amount, ...requirements }: PaymentRequirements,
): Promise<{ payment: PaymentPayloadV1; requirements: PaymentRequirementsV1 }> {
  const client = await createBuyer(sandbox);
  const v1 = {
    ...requirements,
    network: network.startsWith("eip155:") ? "base" : "solana",
    maxAmountRequired: amount,
    resource: RESOURCE,
    description: "",
    mimeType: "application/json",
    outputSchema: {},
  };
  const required = { x402Version: 1, accepts: [v1] } as unknown as Parameters<x402Client["createPaymentPayload"]>[0];
  const payment = await client.createPaymentPayload(required);
  return { payment: payment as unknown as PaymentPayloadV1, requirements: v1 as unknown as PaymentRequirementsV1 };
}

/** Asks a facilitator over HTTP, as a seller does. */
export async function ask<Path extends "verify" | "settle">(
  facilitator: string,
  path: Path,
  paymentPayload: { x402Version: number },
  paymentRequirements: object,
): Promise<Path extends "verify" ? VerifyResponse : SettleResponse> {
  const body = JSON.stringify({ x402Version: paymentPayload.x402Version, paymentPayload, paymentRequirements });
  const answer = await fetch(`${facilitator}/${path}`, { method: "POST", body });
  return (await answer.json()) as Path extends "verify" ? VerifyResponse : SettleResponse;
}

const RESOURCE = "http://127.0.0.1/v1/roll";
