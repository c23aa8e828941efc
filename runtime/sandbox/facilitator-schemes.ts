import { setTimeout as sleep } from "node:timers/promises";
import { generateKeyPairSigner } from "@solana/kit";
import { Connection } from "@solana/web3.js";
import { x402Facilitator } from "@x402/core/facilitator";
import { type FacilitatorEvmSigner, toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import { ExactEvmSchemeV1 } from "@x402/evm/exact/v1/facilitator";
import {
  type FacilitatorSvmSigner,
  SettlementCache,
  TransactionOnchainFailureError,
  toFacilitatorSvmSigner,
} from "@x402/svm";
import { ExactSvmScheme } from "@x402/svm/exact/facilitator";
import { ExactSvmSchemeV1 } from "@x402/svm/exact/v1/facilitator";
import PQueue from "p-queue";
import { createWalletClient, defineChain, http, publicActions } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import type { EvmChain } from "./evm/chain.ts";
import { SMART_WALLET_FACTORIES } from "./evm/smart-wallets.ts";
import type { SvmChain } from "./svm/chain.ts";

/** The chains of a facilitator by their names in x402 version 1: `base`, `solana` … */
export type FacilitatorChains = Readonly<Record<string, EvmChain | SvmChain>>;

/**
 * The official facilitator with the `exact` scheme on these chains, for x402 versions 1 and 2. It settles with new keys,
 * which are funded here. A settlement that is not confirmed in time answers `settlement_pending`.
 */
export async function createSchemes(
  chains: FacilitatorChains,
  confirmationTimeoutMs: number,
): Promise<x402Facilitator> {
  const facilitator = new x402Facilitator();
  for (const [name, chain] of Object.entries(chains)) {
    if ("chainId" in chain) {
      const signer = await createEvmSigner(chain, confirmationTimeoutMs);
      facilitator.register(`eip155:${chain.chainId}`, new ExactEvmScheme(signer, WALLETS));
      facilitator.registerV1(name as V1Network, new ExactEvmSchemeV1(signer, WALLETS));
    } else {
      const signer = await createSvmSigner(chain, confirmationTimeoutMs);
      const settled = new SettlementCache();
      facilitator.register(chain.network, new ExactSvmScheme(signer, settled));
      facilitator.registerV1(name as V1Network, new ExactSvmSchemeV1(signer, settled));
    }
  }
  return facilitator;
}

/** The library's type allows only CAIP-2; version 1 has plain names. */
type V1Network = Extract<Parameters<x402Facilitator["registerV1"]>[0], string>;

const POLLING_MS = 10;
/** The facilitator deploys wallets of the sandbox's own factories only (ERC-6492). */
const WALLETS = { eip6492AllowedFactories: [...SMART_WALLET_FACTORIES] };

async function createEvmSigner(evm: EvmChain, confirmationTimeoutMs: number): Promise<FacilitatorEvmSigner> {
  const account = privateKeyToAccount(generatePrivateKey());
  await evm.setBalance(account.address, 10n ** 21n);
  const chain = defineChain({
    id: evm.chainId,
    name: `sandbox ${evm.chainId}`,
    nativeCurrency: { name: "Ether", symbol: "ETH", decimals: 18 },
    rpcUrls: { default: { http: [evm.url] } },
  });
  const client = createWalletClient({ account, chain, transport: http(), pollingInterval: POLLING_MS }).extend(
    publicActions,
  );
  // One broadcast at a time: the next nonce is read only after the node has accepted this transaction.
  const broadcasts = new PQueue({ concurrency: 1 });
  const signer = {
    ...client,
    address: account.address,
    writeContract: (args: Parameters<typeof client.writeContract>[0]) =>
      broadcasts.add(() => client.writeContract(args)),
    sendTransaction: (args: Parameters<typeof client.sendTransaction>[0]) =>
      broadcasts.add(() => client.sendTransaction(args)),
  };
  return toFacilitatorEvmSigner(signer as Parameters<typeof toFacilitatorEvmSigner>[0], {
    confirmationTimeoutMs,
  });
}

async function createSvmSigner(solana: SvmChain, confirmationTimeoutMs: number): Promise<FacilitatorSvmSigner> {
  const feePayer = await generateKeyPairSigner();
  solana.airdrop(feePayer.address, 10n ** 13n);
  const node = new Connection(solana.url);
  return {
    ...toFacilitatorSvmSigner(feePayer, { defaultRpcUrl: solana.url }),
    // As the library does, but polling faster: this chain confirms at once.
    confirmTransaction: async (signature) => {
      const deadline = performance.now() + confirmationTimeoutMs;
      while (performance.now() < deadline) {
        const { value: status } = await node.getSignatureStatus(signature);
        if (status?.err) throw new TransactionOnchainFailureError(`It failed: ${Object.keys(status.err)}`);
        if (status) return;
        await sleep(POLLING_MS);
      }
      throw new Error(`The transaction was not confirmed within ${confirmationTimeoutMs} ms`);
    },
  };
}
