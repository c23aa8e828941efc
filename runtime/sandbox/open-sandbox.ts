import type { Hex, Log } from "../api/capabilities.ts";
import { IN_PROCESS } from "../core/rails/facilitators.ts";
import { isEvm, type RailManifest } from "../core/set/manifest.ts";
import { type EvmChain, startEvmChain } from "./evm/chain.ts";
import type { Token } from "./evm/tokens.ts";
import { startFacilitator } from "./facilitator.ts";
import { fundEvmRail, fundSolanaRail } from "./funding.ts";
import { type SvmChain, startSvmChain } from "./svm/chain.ts";
import { loadWallets, type SandboxWallets } from "./wallet.ts";

export interface SandboxOptions {
  /**
   * The rails of the site. Their chains are started, their tokens are placed, and the buyer gets plenty of each token.
   */
  readonly rails: readonly RailManifest[];
  /** Where the keys are kept. They survive a restart; the chains do not. */
  readonly dataDir: string;
  readonly anvilBin?: string | undefined;
  readonly log: Log;
}

/** The answer of `GET /sandbox`: everything a buyer needs, private keys included. `rpc` and `tokens` are by rail id. */
export interface SandboxDescription {
  readonly mode: "sandbox";
  /** When the chains began: ISO 8601. */
  readonly started_at: string;
  readonly buyer: {
    readonly evm: { readonly address: Hex; readonly private_key: Hex };
    /** base58 of 64 bytes. */
    readonly solana: { readonly address: string; readonly secret_key: string };
  };
  readonly rpc: Readonly<Record<string, string>>;
  readonly facilitator: string;
  readonly tokens: Readonly<Record<string, string>>;
}

/** Embedded chains, tokens and a facilitator; needs no network. */
export interface Sandbox {
  /** The variables that `payphone serve` needs, with the sandbox's values. */
  readonly env: Readonly<Record<string, string>>;
  readonly description: SandboxDescription;
  /** The nodes by CAIP-2 network, and the EVM tokens by rail id. */
  readonly chains: {
    readonly evm: ReadonlyMap<string, EvmChain>;
    readonly solana: ReadonlyMap<string, SvmChain>;
    readonly tokens: ReadonlyMap<string, Token>;
  };
  stop(): Promise<void>;
}

/**
 * Starts chains, tokens and facilitator, and funds buyer and treasury.
 * @throws Problem `unavailable` when anvil or litesvm is missing; nothing keeps running then.
 */
export async function openSandbox({ rails, dataDir, anvilBin, log }: SandboxOptions): Promise<Sandbox> {
  const wallets = loadWallets(dataDir);
  await using opening = new AsyncDisposableStack();
  const started = async <T extends Stoppable>(starting: Promise<T>): Promise<T> =>
    opening.adopt(await starting, (running) => running.stop());

  const [evm, solana] = await allOrNothing([
    startEach(networksOf(rails, "eip155:"), (network) =>
      started(startEvmChain({ chainId: toChainId(network), bin: anvilBin, args: HEARTBEAT })),
    ),
    startEach(networksOf(rails, "solana:"), (network) => started(startSvmChain({ network }))),
  ]);
  const chainOf = ({ network }: RailManifest): EvmChain | SvmChain => (evm.get(network) ?? solana.get(network))!;
  const byRail = <T>(value: (rail: RailManifest) => T, some = rails): Record<string, T> =>
    Object.fromEntries(some.map((rail) => [rail.id, value(rail)]));

  const remote = rails.filter(({ facilitator }) => facilitator !== IN_PROCESS);
  const networks = remote.filter(({ network }, at) => remote.findIndex((rail) => rail.network === network) === at);
  const [facilitator, tokens] = await allOrNothing([
    started(startFacilitator({ chains: byRail(chainOf, networks) })),
    fundRails(rails, { evm, solana }, wallets),
  ]);

  const rpc = byRail((rail) => chainOf(rail).url);
  const open = opening.move();
  log.info("sandbox open", { rpc, facilitator: facilitator.url });
  return {
    env: toEnv(rails, { wallets, rpc, facilitator: facilitator.url }),
    description: {
      mode: "sandbox",
      started_at: new Date().toISOString(),
      buyer: toSandboxBuyer(wallets),
      rpc,
      facilitator: facilitator.url,
      tokens: byRail(({ asset }) => asset),
    },
    chains: { evm, solana, tokens },
    stop: () => open.disposeAsync(),
  };
}

/**
 * anvil mines a block at once for each transaction, and one every five seconds. EIP-3009 authorizations are checked
 * against the time of the latest block, which would stand still on an idle chain. The interval is not shorter because
 * anvil slows down with each block.
 */
const HEARTBEAT = ["--mixed-mining", "--block-time", "5"];

interface Stoppable {
  stop(): Promise<void>;
}

type Chains = Pick<Sandbox["chains"], "evm" | "solana">;

/**
 * Like Promise.all, but waits for all promises even when one rejects, so that everything that started can be stopped.
 */
async function allOrNothing<const T extends readonly unknown[]>(
  work: T,
): Promise<{ -readonly [Key in keyof T]: Awaited<T[Key]> }> {
  await Promise.allSettled(work);
  return Promise.all(work);
}

async function startEach<T>(
  networks: readonly string[],
  start: (network: string) => Promise<T>,
): Promise<Map<string, T>> {
  return new Map(await allOrNothing(networks.map(async (network) => [network, await start(network)] as const)));
}

const networksOf = (rails: readonly RailManifest[], family: string): string[] => [
  ...new Set(rails.map(({ network }) => network).filter((network) => network.startsWith(family))),
];

/** `eip155:8453` is chain 8453. */
const toChainId = (network: string): number => Number(network.split(":")[1]);

async function fundRails(
  rails: readonly RailManifest[],
  { evm, solana }: Chains,
  wallets: SandboxWallets,
): Promise<Map<string, Token>> {
  const tokens = new Map<string, Token>();
  for (const rail of rails) {
    const [evmChain, svmChain] = [evm.get(rail.network), solana.get(rail.network)];
    if (evmChain) tokens.set(rail.id, await fundEvmRail(evmChain, rail, wallets));
    if (svmChain) fundSolanaRail(svmChain, rail, wallets);
  }
  return tokens;
}

/** The buyer's wallets, as the description shows them. */
export const toSandboxBuyer = ({
  buyer: { evm, solana },
}: Pick<SandboxWallets, "buyer">): SandboxDescription["buyer"] => ({
  evm: { address: evm.address, private_key: evm.privateKey },
  solana: { address: solana.address, secret_key: solana.secretKey },
});

interface Facts extends Pick<SandboxDescription, "rpc" | "facilitator"> {
  readonly wallets: SandboxWallets;
}

/** The treasury also receives the payments. */
function toEnv(
  rails: readonly RailManifest[],
  { wallets: { treasury }, rpc, facilitator }: Facts,
): Record<string, string> {
  const ofRails = rails.flatMap((rail) => [
    [rail.pay_to, isEvm(rail) ? treasury.evm.address : treasury.solana.address],
    [rail.rpc, rpc[rail.id]],
  ]);
  return {
    ...Object.fromEntries(ofRails),
    FACILITATOR_URL: facilitator,
    TREASURY_EVM_KEY: treasury.evm.privateKey,
    TREASURY_SOLANA_KEY: treasury.solana.secretKey,
  };
}
