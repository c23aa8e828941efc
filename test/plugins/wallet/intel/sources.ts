import wallet from "../../../../plugins/wallet/index.ts";
import type { Host } from "../../../../runtime/api/plugin.ts";
import { type Replay, replay, replayAlways } from "../../../support/sources/replay.ts";
import { createHost, type Reach, serve } from "../../host.ts";

/** Two wallets that the recordings know well, and two that nobody uses. */
export const VITALIK = "0xd8dA6BF26964aF9D7eEd9e03E53415D37aA96045";
export const BONFIDA = "HKKp49qGWXd639QsuH7JiLijfVW5UtCVY4s1n2HANwEA";
export const UNUSED_EVM = "0x000000000000000000000000000000000000dEaD";
export const UNUSED_SOLANA = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";

/** Nobody listens there. */
export const DEAD = "http://127.0.0.1:1";

/** Which node each source is read from; the recordings' cases have these names after their colon. */
export const NODES = {
  base_eth: "base",
  base_usdc: "base",
  base_tx_count: "base",
  eth_eth: "ethereum",
  eth_tx_count: "ethereum",
  ens_name: "ethereum",
  sol: "solana",
  solana_usdc: "solana",
  solana_history: "solana",
  sns_name: "solana",
} as const;

export type Source = keyof typeof NODES;
export const SOURCES = Object.keys(NODES) as Source[];

const URLS = { base: "https://base.test", ethereum: "https://ethereum.test", solana: "https://solana.test" };
const GOPLUS = "https://goplus.test";
const REACH: Reach = { urls: { ...URLS, goplus: GOPLUS, ofac: DEAD }, retries: 0 };

export type Bundle = Record<"balances" | "activity" | "identity" | "sanctions", Record<string, unknown>> & {
  readonly errors: readonly { readonly source: string; readonly message: string }[];
};

/** A Host whose nodes nock answers for. */
export const openHost = (overrides: Partial<Host> = {}): Host => createHost(overrides, REACH);

/** One call of the service. */
export async function gather(address: string, host = openHost()): Promise<Bundle> {
  const ask = await serve("intel_wallet", wallet, host);
  return (await ask({ wallet: address })) as Bundle;
}

/** Every source of these nodes, and GoPlus, gives `success` or the case that is said here, each as often as it is asked. */
export function answer(
  cases: Partial<Record<Source | "goplus", string>> = {},
  nodes: readonly (keyof typeof URLS)[] = ["base", "ethereum", "solana"],
): Replay[] {
  const toCase = (source: Source): string => `${cases[source] ?? "success"}:${source}`;
  const wallets = nodes.map((node) => {
    const chosen = SOURCES.filter((source) => NODES[source] === node).map(toCase);
    return replayAlways(URLS[node], recording(node, "wallet"), chosen);
  });
  const names = (["ethereum", "solana"] as const).map((node) =>
    replayAlways(URLS[node], recording(node, "names"), ["success", "empty"]),
  );
  const goplus = replayAlways(
    GOPLUS,
    recording("goplus", "address-security"),
    cases.goplus ? [cases.goplus] : ["success", "empty"],
  );
  return [...wallets, ...names, goplus];
}

/** The Base node gives these cases once. */
export const answerOnceAtBase = (cases: readonly string[]): Replay =>
  replay(URLS.base, recording("base", "wallet"), cases);

const recording = (node: string, name: string): string => `plugins/wallet/recordings/${node}/${name}.json`;
