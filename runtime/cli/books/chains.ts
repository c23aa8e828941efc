import { Problem } from "../../api/problem.ts";
import type { TransferReader } from "../../core/books/audit.ts";
import { isEvm, type RailManifest } from "../../core/set/manifest.ts";
import type { SettlementReader } from "../../core/x402/x402.ts";
import { createEvmClient } from "../../drivers/evm/client.ts";
import { createEvmSettlements } from "../../drivers/evm/settlements.ts";
import { createEvmTransfers } from "../../drivers/evm/transfers.ts";
import { createSolanaClient } from "../../drivers/solana/client.ts";
import { createSolanaTransfers } from "../../drivers/solana/transfers.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import type { Config } from "../config/config.ts";
import { railVariables } from "../config/serve.ts";

/** A rail's chain, and the addresses that receive payments on it. */
export interface RailChain {
  /** Undefined when no RPC URL is configured. */
  readonly chain: TransferReader | undefined;
  /** Undefined there, too, and on Solana, where a payment cannot be looked up without its transaction. */
  readonly settlements: Pick<SettlementReader, "find"> | undefined;
  readonly receivers: readonly string[];
}

export interface ChainPlace {
  readonly config: Config;
  /** The data directory of a sandbox; undefined for a real shop. */
  readonly sandboxDir: string | undefined;
  /** The URL of a running sandbox, which names its chains. */
  readonly url: string;
}

const PATIENCE_MS = 5000;

/**
 * The chains of rails. @throws Problem `unavailable` when the sandbox is not running: its chains exist only as long as
 * it runs; `bad-request` when the one that runs has another data directory.
 */
export async function openChains(place: ChainPlace): Promise<(rail: RailManifest) => RailChain> {
  const { config, sandboxDir } = place;
  if (sandboxDir === undefined)
    return (rail) => {
      const { rpc, payTo } = railVariables(config, rail);
      return { ...openReaders(rail, rpc), receivers: payTo === "" ? [] : [payTo] };
    };
  const { rpc, started_at, buyer } = await describeSandbox(place.url);
  const { loadWallets } = await import("../../sandbox/wallet.ts");
  const { treasury, buyer: ours } = loadWallets(sandboxDir);
  if (ours.evm.address !== buyer.evm.address) throw elsewhere(place.url, sandboxDir);
  const { evm, solana } = treasury;
  return (rail) => {
    const { chain, settlements } = openReaders(rail, rpc[rail.id] ?? "");
    return {
      settlements,
      chain: chain && { ...chain, begin: async () => Date.parse(started_at) },
      receivers: [isEvm(rail) ? evm.address : solana.address],
    };
  };
}

const elsewhere = (url: string, dir: string): Problem =>
  new Problem(
    "bad-request",
    `The sandbox at ${url} keeps its book elsewhere than in ${dir}: set PAYPHONE_DATA_DIR as it was started with, or name the one of this book with --url`,
  );

function openReaders({ network, asset }: RailManifest, url: string): Pick<RailChain, "chain" | "settlements"> {
  if (url === "") return { chain: undefined, settlements: undefined };
  if (!network.startsWith("eip155:")) {
    const client = createSolanaClient({ url, network });
    return { chain: createSolanaTransfers({ client, mint: asset }), settlements: undefined };
  }
  const client = createEvmClient({ url, chainId: Number(network.slice("eip155:".length)) });
  return { chain: createEvmTransfers({ client, asset }), settlements: createEvmSettlements({ client }) };
}

/** The answer of a running sandbox to `GET /sandbox`. @throws Problem `unavailable` when none answers there. */
export async function describeSandbox(url: string): Promise<SandboxDescription> {
  const where = `${url}/sandbox`;
  try {
    const response = await fetch(where, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return (await response.json()) as SandboxDescription;
  } catch (cause) {
    const detail = `The sandbox's chains end with it, and none answers at ${where}: start it, or name it with --url`;
    throw new Problem("unavailable", detail, { cause });
  }
}
