import { ExactEvmScheme } from "@x402/evm/exact/client";
import { wrapFetchWithPayment, x402Client } from "@x402/fetch";
import { rail, type TestSandbox } from "../chains/chains.ts";
import { createSmartWallet, type SmartWallet } from "../chains/smart-wallet.ts";
import type { PayingFetch } from "./stock-buyer.ts";

/** A smart wallet with money on one rail's chain, and a stock client that pays with it. */
export interface SmartBuyer extends SmartWallet {
  readonly client: x402Client;
  readonly pay: PayingFetch;
}

/** Creates a smart buyer. Its wallet is not deployed yet. */
export async function createSmartBuyer(
  sandbox: TestSandbox,
  id: "base" | "polygon",
  version?: "1" | "1.1",
): Promise<SmartBuyer> {
  const { asset, network: caip } = rail(id);
  const network = caip as `eip155:${string}`;
  const wallet = await createSmartWallet(sandbox.chains.evm.get(network)!, version);
  await sandbox.chains.tokens.get(id)!.mint(wallet.address, 10n ** 21n);
  const client = new x402Client()
    .register(network, new ExactEvmScheme(toSigner(wallet)))
    .registerPolicy((_version, offers) => offers.filter((offer) => offer.network === network))
    .setSpendControls({ allowedAssets: [{ network, asset }] });
  return { ...wallet, client, pay: wrapFetchWithPayment(fetch, client) };
}

/** x402 types typed data as plain records, viem by the names of the fields. */
export const toSigner = ({ account }: SmartWallet) => account as ConstructorParameters<typeof ExactEvmScheme>[0];
