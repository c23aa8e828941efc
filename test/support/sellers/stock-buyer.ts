import { base58 } from "@scure/base";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import type { PaymentPayload } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client, x402HTTPClient } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/client";
import { privateKeyToAccount } from "viem/accounts";
import { rail, type TestSandbox } from "../chains/chains.ts";

export type PayingFetch = (input: string, init?: RequestInit) => Promise<Response>;

/** The stock client with the keys of the sandbox's buyer, on all chains and in x402 versions 1 and 2. */
export async function createBuyer({
  description: { buyer, rpc },
}: Pick<TestSandbox, "description">): Promise<x402Client> {
  const account = privateKeyToAccount(buyer.evm.private_key);
  const signer = await createKeyPairSignerFromBytes(base58.decode(buyer.solana.secret_key));
  const solana = { rpcUrl: rpc.solana! };
  return new x402Client()
    .register("eip155:*", new ExactEvmScheme(account))
    .register("solana:*", new ExactSvmScheme(signer, solana))
    .registerV1("base", new ExactEvmSchemeV1(account))
    .registerV1("solana", new ExactSvmSchemeV1(signer, solana));
}

/** The stock `@x402/fetch` around it, for calls of up to five dollars; `base` is the fetch beneath it. */
export async function buyerFetch(
  sandbox: Pick<TestSandbox, "description">,
  base: typeof fetch = fetch,
): Promise<PayingFetch> {
  const client = await createBuyer(sandbox);
  return wrapFetchWithPayment(base, client.setSpendControls({ maxAmountPerPayment: "$5" }));
}

/** A stock client that pays on one rail only. */
export async function stockClient(sandbox: TestSandbox, id: string): Promise<x402Client> {
  const { network, asset } = rail(id);
  const client = payOnly(await createBuyer(sandbox), network);
  return client.setSpendControls({ allowedAssets: [{ network: network as `eip155:${string}`, asset }] });
}

/** The stock `@x402/fetch` around that client; `base` is the fetch beneath it. */
export async function stockFetch(sandbox: TestSandbox, id: string, base: typeof fetch = fetch): Promise<PayingFetch> {
  return wrapFetchWithPayment(base, await stockClient(sandbox, id));
}

/** A payer of the deprecated x402 version 1: it reads the body of the 402 and ignores PAYMENT-REQUIRED. */
export async function stockFetchV1(sandbox: TestSandbox, id: "base" | "solana"): Promise<PayingFetch> {
  const client = payOnly(await createBuyer(sandbox), id);
  const withoutV2: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 402) return response;
    const headers = new Headers(response.headers);
    headers.delete("payment-required");
    return new Response(await response.text(), { status: 402, headers });
  };
  return wrapFetchWithPayment(withoutV2, client);
}

const payOnly = (client: x402Client, wanted: string): x402Client =>
  client.registerPolicy((_version, offers) => offers.filter(({ network }) => network === wanted));

/** The headers with a client's payment of this challenge, changed by the test before it is encoded. */
export async function signFor(
  client: x402Client,
  challenge: Response,
  change = (payment: PaymentPayload): PaymentPayload => payment,
): Promise<Record<string, string>> {
  const http = new x402HTTPClient(client);
  const required = http.getPaymentRequiredResponse((name) => challenge.headers.get(name), await challenge.json());
  return http.encodePaymentSignatureHeader(change(await client.createPaymentPayload(required)));
}

export const receiptOf = (response: Response) =>
  decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");

export const json = (body: unknown, headers: Readonly<Record<string, string>> = {}) => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body),
});

/** The result of a call over JSON-RPC, of a door or of a chain's node. */
// biome-ignore lint/suspicious/noExplicitAny: tests look at what came back, and fail where it is not what they expect
export async function askRpc(url: string, method: string, params: object): Promise<any> {
  const response = await fetch(url, json({ jsonrpc: "2.0", id: 1, method, params }));
  return ((await response.json()) as { result: unknown }).result;
}
