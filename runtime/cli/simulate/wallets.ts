import type { Hex } from "../../api/capabilities.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";

/** A simulated buyer's wallet. */
export interface SimulatedWallet {
  readonly key: Hex;
  readonly address: Hex;
}

/** The tokens that each buyer gets on a rail, in whole tokens: enough for many cheap calls. */
const TOKENS = { usd: 5n, other: 1000n };

/** The rails on which the sandbox can give simulated buyers money. */
export const fundableRails = (rails: readonly RailManifest[], { rpc }: SandboxDescription): RailManifest[] =>
  rails.filter((rail) => isEvm(rail) && rpc[rail.id] !== undefined);

/** Creates new wallets. */
export async function makeWallets(count: number): Promise<readonly SimulatedWallet[]> {
  const { generatePrivateKey, privateKeyToAddress } = await import("viem/accounts");
  return Array.from({ length: count }, () => {
    const key = generatePrivateKey();
    return { key, address: privateKeyToAddress(key) };
  });
}

/** Sends each wallet the rail's token from the sandbox's own buyer. */
export async function fund(
  wallets: readonly SimulatedWallet[],
  rail: RailManifest,
  sandbox: SandboxDescription,
): Promise<void> {
  const { createPublicClient, createWalletClient, defineChain, erc20Abi, http } = await import("viem");
  const { privateKeyToAccount } = await import("viem/accounts");
  const url = sandbox.rpc[rail.id] as string;
  const id = Number(rail.network.slice("eip155:".length));
  const nativeCurrency = { name: "native", symbol: "native", decimals: 18 };
  const chain = defineChain({ id, name: rail.title, nativeCurrency, rpcUrls: { default: { http: [url] } } });
  const account = privateKeyToAccount(sandbox.buyer.evm.private_key);
  const reader = createPublicClient({ chain, transport: http(url) });
  const writer = createWalletClient({ account, chain, transport: http(url) });
  const amount = (rail.currency === "usd" ? TOKENS.usd : TOKENS.other) * 10n ** BigInt(rail.decimals);
  const call = { address: rail.asset as Hex, abi: erc20Abi, functionName: "transfer" } as const;
  let nonce = await reader.getTransactionCount({ address: account.address });
  let last: Hex | undefined;
  for (const { address } of wallets) {
    last = await writer.writeContract({ ...call, args: [address, amount], nonce });
    nonce += 1;
  }
  if (last) await reader.waitForTransactionReceipt({ hash: last, pollingInterval: 200 });
}
