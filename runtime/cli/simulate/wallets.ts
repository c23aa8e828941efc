import type { Hex } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import { amountOn, type Tariff, tiersOf, toAtomic } from "../../core/set/price.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";

/** A simulated buyer's wallet. */
export interface SimulatedWallet {
  readonly key: Hex;
  readonly address: Hex;
}

/** Each buyer can pay for so many of the dearest calls, and for many more cheap ones. */
const DEAREST_CALLS = 100n;
/** How often a transfer is sent, while others send from the same wallet. */
const TRIES = 50;
/** What the node says where another transaction has the nonce. */
const TAKEN = /nonce too low|underpriced/;

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

/** What each buyer gets on a rail, in atomic units. @param dearest the highest price of a call, in dollars */
export function toPurse(rail: RailManifest, dearest: string, tariff: Tariff): bigint {
  const tiers = Object.keys(tiersOf(tariff, rail.currency) ?? {});
  const prices = [dearest, ...tiers].filter((price) => toAtomic(price, 18) <= toAtomic(dearest, 18));
  const amounts = prices.map((price) => amountOn(rail, price, tariff) ?? 0n);
  return DEAREST_CALLS * amounts.reduce((most, amount) => (amount > most ? amount : most));
}

/**
 * Sends each wallet an amount of the rail's token from the sandbox's own buyer.
 * @throws Problem `unavailable` when that has too little, or its chain does not answer.
 */
export async function fund(
  wallets: readonly SimulatedWallet[],
  amount: bigint,
  { rail, sandbox }: { readonly rail: RailManifest; readonly sandbox: SandboxDescription },
): Promise<void> {
  const { BaseError, createPublicClient, createWalletClient, defineChain, erc20Abi, http } = await import("viem");
  const { privateKeyToAccount } = await import("viem/accounts");
  const url = sandbox.rpc[rail.id] as string;
  const id = Number(rail.network.slice("eip155:".length));
  const nativeCurrency = { name: "native", symbol: "native", decimals: 18 };
  const chain = defineChain({ id, name: rail.title, nativeCurrency, rpcUrls: { default: { http: [url] } } });
  const account = privateKeyToAccount(sandbox.buyer.evm.private_key);
  const reader = createPublicClient({ chain, transport: http(url) });
  const writer = createWalletClient({ account, chain, transport: http(url) });
  const call = { address: rail.asset as Hex, abi: erc20Abi, functionName: "transfer" } as const;
  let last: Hex | undefined;
  for (const { address } of wallets) last = await send(address, TRIES);
  if (last) await reader.waitForTransactionReceipt({ hash: last, pollingInterval: 200 });

  async function send(address: Hex, tries: number): Promise<Hex> {
    try {
      const nonce = await reader.getTransactionCount({ address: account.address, blockTag: "pending" });
      return await writer.writeContract({ ...call, args: [address, amount], nonce });
    } catch (cause) {
      if (!(cause instanceof BaseError)) throw cause;
      if (tries > 1 && TAKEN.test(cause.details)) return send(address, tries - 1);
      const why = cause.shortMessage.replaceAll("\n", " ");
      throw new Problem("unavailable", `The sandbox's buyer cannot give the wallets ${rail.title}: ${why}`, { cause });
    }
  }
}
