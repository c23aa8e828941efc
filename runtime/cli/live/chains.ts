import { isEvm, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { createEvmClient, type EvmClient } from "../../drivers/evm/client.ts";
import { checkToken } from "../../drivers/facilitator/local/token.ts";
import { createSolanaClient, type SolanaClient } from "../../drivers/solana/client.ts";
import { checkMint, type MintFacts } from "../../drivers/solana/mint.ts";
import type { Config } from "../config/config.ts";
import { railVariables } from "../config/serve.ts";
import { feeAccounts, TRANSACTIONS } from "../monitor/treasury.ts";
import { type Found, type LiveFinding, probe } from "./probe.ts";

/**
 * The most by which the time of the newest block may differ from this clock. Older: the chain or the node lags behind.
 * Newer: this clock is wrong.
 */
const LAG_MS = 120_000;

/** Probes each rail's node, chain and token. */
export function probeRails(config: Config, { rails }: SiteManifest): Promise<LiveFinding>[] {
  return rails.flatMap((rail) => {
    if (!isEvm(rail)) {
      const client = openSolana(config, rail);
      return [
        probe(`${rail.title}: node`, (signal) => lookAtSolana(client, signal)),
        probe(`${rail.title}: token`, async (signal) => toToken(rail, await checkMint(client, toMint(rail), signal))),
      ];
    }
    const client = openEvm(config, rail);
    const { asset, domain, decimals } = rail;
    return [
      probe(`${rail.title}: node`, (signal) => lookAtEvm(client, signal)),
      ...(domain
        ? [
            probe(`${rail.title}: token`, async (signal) =>
              toToken(rail, await checkToken(client, { asset, ...domain, decimals }, signal)),
            ),
          ]
        : []),
    ];
  });
}

/**
 * Probes whether the treasury can pay the fees of its transactions. @param capabilities the capabilities that plugins
 * take from `Host`
 */
export const probeTreasury = (
  config: Config,
  site: SiteManifest,
  capabilities: ReadonlySet<string>,
): Promise<LiveFinding>[] =>
  feeAccounts(config, site, capabilities).map(({ rail, decimals, least, read }) =>
    probe(`${rail.title}: treasury`, async (signal) => {
      const { address, balance } = await read(signal);
      return toGas(address, balance, { decimals, least });
    }),
  );

function toGas(address: string, balance: bigint, { decimals, least }: { decimals: number; least: bigint }): Found {
  const found = `${address} has ${toDecimal(balance, decimals)} of the chain's coin for fees`;
  if (balance === 0n) return { state: "failed", found: `${found}: send it ${toDecimal(least, decimals)}` };
  if (balance >= least) return found;
  return {
    state: "warning",
    found: `${found}; with ${toDecimal(least, decimals)}, ${TRANSACTIONS} transactions are sure`,
  };
}

/** Whether a node answers for its chain, and how old its newest block is. */
export const lookAtNode = ({ network, ...place }: NodePlace, signal: AbortSignal) =>
  isEvm({ network })
    ? lookAtEvm(createEvmClient({ ...place, chainId: toChainId({ network }) }), signal)
    : lookAtSolana(createSolanaClient({ ...place, network }), signal);

/** A node that services read. */
export interface NodePlace {
  readonly url: string;
  readonly network: string;
  /** Credentials. */
  readonly headers: Readonly<Record<string, string>>;
}

async function lookAtEvm(client: EvmClient, signal: AbortSignal): Promise<Found> {
  const { number, timestamp } = await client.ask((chain) => chain.getBlock(), signal);
  return toAge(`chain ${client.chainId}, block ${number}`, Number(timestamp) * 1000);
}

async function lookAtSolana(client: SolanaClient, signal: AbortSignal): Promise<Found> {
  const slot = await client.ask((chain) => chain.getSlot(), signal);
  // Some slots have no time.
  const time = await client.ask((chain) => chain.getBlockTime(slot), signal).catch(() => null);
  return time === null ? `slot ${slot}` : toAge(`slot ${slot}`, time * 1000);
}

const toMint = ({ asset, decimals }: RailManifest): MintFacts => ({ mint: asset, decimals });

const toToken = ({ asset }: RailManifest, difference: string | undefined): Found =>
  difference ? { state: "failed", found: difference } : `${asset} is as _site.yaml says`;

function toAge(what: string, at: number): Found {
  const ageMs = Date.now() - at;
  const seconds = Math.round(Math.abs(ageMs) / 1000);
  if (ageMs < -LAG_MS)
    return { state: "warning", found: `${what}, ${seconds} s in the future: this machine's clock is slow` };
  const found = `${what}, ${ageMs < 0 ? 0 : seconds} s old`;
  if (ageMs <= LAG_MS) return found;
  return { state: "warning", found: `${found}: the node lags behind its chain, or this machine's clock is fast` };
}

const openEvm = (config: Config, rail: RailManifest): EvmClient =>
  createEvmClient({ url: railVariables(config, rail).rpc, chainId: toChainId(rail) });

const openSolana = (config: Config, rail: RailManifest): SolanaClient =>
  createSolanaClient({ url: railVariables(config, rail).rpc, network: rail.network });

const toChainId = ({ network }: Pick<RailManifest, "network">): number => Number(network.slice("eip155:".length));
