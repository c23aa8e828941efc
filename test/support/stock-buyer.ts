import { base58 } from "@scure/base";
import { createKeyPairSignerFromBytes } from "@solana/kit";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/client";
import { decodePaymentResponseHeader, wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/client";
import { privateKeyToAccount } from "viem/accounts";
import { rail, type TestSandbox } from "./chains.ts";

export type PayingFetch = (input: string, init?: RequestInit) => Promise<Response>;

/** The stock client in the hands of the sandbox's buyer, paying on one rail only. */
export async function stockClient({ description: { buyer, rpc } }: TestSandbox, id: string): Promise<x402Client> {
  const { network, asset } = rail(id);
  const client = new x402Client();
  if (network.startsWith("eip155:")) {
    client.register(network as `eip155:${string}`, new ExactEvmScheme(privateKeyToAccount(buyer.evm.private_key)));
  } else {
    const signer = await createKeyPairSignerFromBytes(base58.decode(buyer.solana.secret_key));
    client.register(network as `solana:${string}`, new ExactSvmScheme(signer, { rpcUrl: rpc.solana! }));
  }
  return client.setSpendControls({ allowedAssets: [{ network: network as `eip155:${string}`, asset }] });
}

/** The stock `@x402/fetch` around that client; `base` is the fetch beneath it. */
export async function stockFetch(sandbox: TestSandbox, id: string, base: typeof fetch = fetch): Promise<PayingFetch> {
  return wrapFetchWithPayment(base, await stockClient(sandbox, id));
}

/** A payer of the deprecated version 1: it reads the V1 body, and knows no PAYMENT-REQUIRED header. */
export async function stockFetchV1(
  { description: { buyer, rpc } }: TestSandbox,
  id: "base" | "solana",
): Promise<PayingFetch> {
  const client = new x402Client();
  if (id === "base") client.registerV1("base", new ExactEvmSchemeV1(privateKeyToAccount(buyer.evm.private_key)));
  else {
    const signer = await createKeyPairSignerFromBytes(base58.decode(buyer.solana.secret_key));
    client.registerV1("solana", new ExactSvmSchemeV1(signer, { rpcUrl: rpc.solana! }));
  }
  const withoutV2: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 402) return response;
    const headers = new Headers(response.headers);
    headers.delete("payment-required");
    return new Response(await response.text(), { status: 402, headers });
  };
  return wrapFetchWithPayment(withoutV2, client);
}

export const receiptOf = (response: Response) =>
  decodePaymentResponseHeader(response.headers.get("payment-response") ?? "");

export const json = (body: unknown): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json" },
  body: JSON.stringify(body),
});
