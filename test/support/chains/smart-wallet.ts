import { createPublicClient, defineChain, type Hex, http } from "viem";
import { type ToCoinbaseSmartAccountReturnType, toCoinbaseSmartAccount } from "viem/account-abstraction";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { EvmChain } from "../../../runtime/sandbox/evm/chain.ts";

/** viem's Coinbase Smart Wallet with a new owner. */
export interface SmartWallet {
  readonly address: Hex;
  /** Signs payments. Until the wallet is deployed, signatures contain the deployment (ERC-6492). */
  readonly account: ToCoinbaseSmartAccountReturnType;
  isDeployed(): Promise<boolean>;
  /** Deploys the wallet. Anybody may do so; here the chain's own account does. */
  deploy(): Promise<void>;
}

/** On a chain with the sandbox's factories; not deployed yet. */
export async function createSmartWallet(evm: EvmChain, version: "1" | "1.1" = "1.1"): Promise<SmartWallet> {
  const chain = defineChain({
    id: evm.chainId,
    name: `chain ${evm.chainId}`,
    nativeCurrency: { name: "coin", symbol: "COIN", decimals: 18 },
    rpcUrls: { default: { http: [evm.url] } },
  });
  const client = createPublicClient({ chain, transport: http() });
  const owner = privateKeyToAccount(generatePrivateKey());
  const account = await toCoinbaseSmartAccount({ client, owners: [owner], version });
  return {
    address: account.address,
    account,
    isDeployed: async () => (await client.getCode({ address: account.address })) !== undefined,
    async deploy() {
      const { factory, factoryData } = await account.getFactoryArgs();
      await evm.transact(factory!, factoryData!);
    },
  };
}
