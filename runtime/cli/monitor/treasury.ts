import { isInProcess } from "../../core/rails/facilitators.ts";
import { isEvm, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import { toAtomic } from "../../core/set/price.ts";
import { createEvmClient } from "../../drivers/evm/client.ts";
import { createSolanaClient } from "../../drivers/solana/client.ts";
import { FEE } from "../../drivers/solana/sender.ts";
import { createTreasury } from "../../drivers/treasury.ts";
import type { Config } from "../config/config.ts";
import { ANCHOR_RAILS, railVariables } from "../config/serve.ts";

/** The treasury should be able to pay for this many transactions at the highest fee. */
export const TRANSACTIONS = 20n;
/** What Solana lets no fee take: an account without data holds nothing, or at least this much (its rent exemption). */
const SOLANA_RENT_LAMPORTS = 890_880n;

/** An account of the treasury that pays fees on a rail's chain. */
export interface FeeAccount {
  readonly rail: RailManifest;
  /** Decimals of the chain's native coin. */
  readonly decimals: number;
  /** The least it should hold, in the coin's smallest unit. */
  readonly least: bigint;
  /** The balance, in the coin's smallest unit. @throws when the chain cannot be asked. */
  read(signal: AbortSignal): Promise<{ readonly address: string; readonly balance: bigint }>;
}

/**
 * The accounts that pay the fees of the treasury's transactions. @param capabilities the capabilities that plugins take
 * from `Host`
 */
export function feeAccounts(
  config: Config,
  site: SiteManifest,
  capabilities: ReadonlySet<string>,
): readonly FeeAccount[] {
  const { rails, refunds } = site;
  const anchors = capabilities.has("anchor") && rails.some(({ id }) => id === ANCHOR_RAILS.base);
  const sending = rails.filter((rail) => {
    const isAnchored = anchors && (rail.id === ANCHOR_RAILS.base || rail.id === ANCHOR_RAILS.solana);
    return isAnchored || (isEvm(rail) && (isInProcess(rail, site) || rail.id === refunds?.rail));
  });
  // One for each network, however many of its rails send.
  const firsts = sending.filter(({ network }, at) => sending.findIndex((rail) => rail.network === network) === at);
  return firsts.map((rail) => (isEvm(rail) ? toEvmAccount(config, rail, rails) : toSolanaAccount(config, rail)));
}

/** @param rails of the site: those of a network share the highest fee that one of them allows */
function toEvmAccount(config: Config, rail: RailManifest, rails: readonly RailManifest[]): FeeAccount {
  const fees = rails
    .filter(({ network }) => network === rail.network)
    .map(({ max_fee = "0.001" }) => toAtomic(max_fee, 18));
  const treasury = createTreasury(config.treasury);
  const client = createEvmClient({
    url: railVariables(config, rail).rpc,
    chainId: Number(rail.network.slice("eip155:".length)),
  });
  return {
    rail,
    decimals: 18,
    least: fees.reduce((most, fee) => (fee > most ? fee : most)) * TRANSACTIONS,
    async read(signal) {
      const address = await treasury.evmAddress();
      const balance = await client.ask((chain) => chain.getBalance({ address }), signal);
      return { address, balance };
    },
  };
}

function toSolanaAccount(config: Config, rail: RailManifest): FeeAccount {
  const treasury = createTreasury(config.treasury);
  const client = createSolanaClient({ url: railVariables(config, rail).rpc, network: rail.network });
  return {
    rail,
    decimals: 9,
    least: SOLANA_RENT_LAMPORTS + FEE * TRANSACTIONS,
    async read(signal) {
      const { PublicKey } = await import("@solana/web3.js");
      const address = treasury.solanaAddress;
      const balance = await client.ask((chain) => chain.getBalance(new PublicKey(address)), signal);
      return { address, balance: BigInt(balance) };
    },
  };
}
