import type { RailManifest } from "../core/set/manifest.ts";
import { toAtomic } from "../core/set/price.ts";
import type { EvmChain } from "./evm/chain.ts";
import { placeSmartWalletFactories } from "./evm/smart-wallets.ts";
import { placeToken, type Token } from "./evm/tokens.ts";
import type { SvmChain } from "./svm/chain.ts";
import type { SandboxWallets } from "./wallet.ts";

/**
 * Places the rail's token and the smart wallet factories on its chain, mints tokens to the buyer, and gives all parties
 * gas.
 */
export async function fundEvmRail(
  chain: EvmChain,
  { asset, symbol, decimals, currency, domain }: RailManifest,
  { buyer, treasury }: SandboxWallets,
): Promise<Token> {
  const [token] = await Promise.all([
    placeToken(chain, { address: asset, symbol, decimals, ...domain! }), // schemas/site.json requires `domain` for every EVM rail.
    placeSmartWalletFactories(chain),
    chain.setBalance(buyer.evm.address, GAS_WEI),
    chain.setBalance(treasury.evm.address, GAS_WEI),
  ]);
  await token.mint(buyer.evm.address, toAtomic(toFunds(currency), decimals));
  return token;
}

/** Funds a Solana rail likewise. The treasury also needs a token account before it can be paid. */
export function fundSolanaRail(
  chain: SvmChain,
  { asset, decimals, currency }: RailManifest,
  { buyer, treasury }: SandboxWallets,
): void {
  chain.airdrop(buyer.solana.address, GAS_LAMPORTS);
  chain.airdrop(treasury.solana.address, GAS_LAMPORTS);
  chain.putMint(asset, decimals);
  chain.putTokenAccount(buyer.solana.address, toAtomic(toFunds(currency), decimals));
  chain.putTokenAccount(treasury.solana.address, 0n);
}

/** Enough for a day of paid calls. */
const toFunds = (currency: string): string => (currency === "jpy" ? "10000000" : "100000");
const GAS_WEI = 10n ** 21n;
const GAS_LAMPORTS = 10n ** 12n;
