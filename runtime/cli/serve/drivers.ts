import type { Anchor, Clock, Evm, Log, Treasury } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { FacilitatorTrust } from "../../core/payments/trust.ts";
import { facilitatorsOf, IN_PROCESS } from "../../core/rails/facilitators.ts";
import type { RefundRail } from "../../core/refunds/rail.ts";
import { isEvm, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import { toAtomic } from "../../core/set/price.ts";
import type { Store } from "../../core/store.ts";
import type { ProveWallet } from "../../core/wallets/sign-in.ts";
import type { Rail } from "../../core/x402/rails.ts";
import type { Facilitator, SettlementReader } from "../../core/x402/x402.ts";
import { createAnchor } from "../../drivers/anchor.ts";
import { createEvmClient, type EvmClient } from "../../drivers/evm/client.ts";
import { readIncoming } from "../../drivers/evm/incoming.ts";
import { createPayerProof } from "../../drivers/evm/payer-proof.ts";
import { createEvmReads } from "../../drivers/evm/reads.ts";
import { createEvmRefundRail } from "../../drivers/evm/refund-rail.ts";
import { createEvmSender, type EvmSender } from "../../drivers/evm/sender/sender.ts";
import { createEvmSettlements } from "../../drivers/evm/settlements.ts";
import { withCheck } from "../../drivers/facilitator/checked.ts";
import { createLocalFacilitator } from "../../drivers/facilitator/local/local.ts";
import { checkToken } from "../../drivers/facilitator/local/token.ts";
import { createSolanaClient, type SolanaClient } from "../../drivers/solana/client.ts";
import { createSolanaPayerProof } from "../../drivers/solana/payer-proof.ts";
import { createSolanaOwnerOf } from "../../drivers/solana/payment-owner.ts";
import { findReceiverObstacle } from "../../drivers/solana/receiver.ts";
import { createSolanaSender } from "../../drivers/solana/sender.ts";
import { createSolanaSettlements } from "../../drivers/solana/settlements.ts";
import { createTreasury, missingKey } from "../../drivers/treasury.ts";
import { createWalletProof } from "../../drivers/wallet-proof.ts";
import type { Config } from "../config/config.ts";
import { ANCHOR_RAILS, railVariables } from "../config/serve.ts";
import type { WatchedRail } from "./address-watch.ts";
import { openFacilitators } from "./facilitators.ts";

export interface DriverDeps {
  readonly config: Config;
  readonly site: SiteManifest;
  /** Those of its rails that only earlier sets had; none when omitted. */
  readonly retired?: readonly RailManifest[] | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** Which facilitators are trusted; when omitted, all are. */
  readonly trust?: Pick<FacilitatorTrust, "reasonAgainst"> | undefined;
}

/** The outside world behind its interfaces. Nothing is connected before its first use. */
export interface Drivers {
  readonly rails: readonly Rail[];
  /** The EVM rails that are offered, with their newest payments. */
  readonly watched: readonly WatchedRail[];
  readonly anchor: Anchor;
  /** The chain of the rail `base`. */
  readonly evm: Evm;
  readonly treasury: Treasury;
  /** Verifies the signatures of wallets. */
  readonly proveWallet: ProveWallet;
  /** Pays refunds of failed jobs; undefined when the site has no automatic refunds. */
  readonly refundRail: RefundRail | undefined;
  close(): Promise<void>;
}

/** @throws Problem `bad-request` when the configuration lacks what the site needs, as `missingForServe` says. */
export function createDrivers({ config, site, retired = [], store, clock, log, trust }: DriverDeps): Drivers {
  const offered = site.rails.filter((rail) => !retired.includes(rail));
  const treasury = createTreasury(config.treasury);
  const facilitators = openFacilitators({ config, site, log, trust });
  /**
   * One client for each network, however many rails it has: the treasury's transactions must be sent in one sequence.
   */
  const byNetwork = [...Map.groupBy(site.rails, ({ network }) => network).values()] as [
    RailManifest,
    ...RailManifest[],
  ][];
  const evmChains = new Map(
    byNetwork.filter(([rail]) => isEvm(rail)).map((rails) => [rails[0].network, openEvm(rails)]),
  );
  const solanaClients = new Map(
    byNetwork.filter(([rail]) => !isEvm(rail)).map(([rail]) => [rail.network, openSolana(rail)]),
  );

  return {
    rails: site.rails.map(toRail),
    watched: offered.flatMap(toWatched),
    anchor: toAnchor(),
    evm: toReads(),
    treasury,
    proveWallet: createWalletProof(new Map([...evmChains].map(([network, { client }]) => [network, client]))),
    refundRail: toRefundRail(),
    async close() {
      for (const { sender } of evmChains.values()) sender.close();
      await facilitators.close();
    },
  };

  function openEvm(rails: readonly [RailManifest, ...RailManifest[]]): { client: EvmClient; sender: EvmSender } {
    const { rpc } = railVariables(config, rails[0]);
    const client = createEvmClient({ url: rpc, chainId: Number(rails[0].network.slice("eip155:".length)) });
    const feeCapWei = rails.map(toFeeCap).reduce((most, cap) => (cap > most ? cap : most));
    return { client, sender: createEvmSender({ client, treasury, store, feeCapWei, clock, log }) };
  }

  function openSolana(rail: RailManifest): SolanaClient {
    return createSolanaClient({ url: railVariables(config, rail).rpc, network: rail.network });
  }

  function toRail(manifest: RailManifest): Rail {
    const { payTo } = railVariables(config, manifest);
    const facilitator = toFacilitator(manifest, payTo);
    const solana = solanaClients.get(manifest.network);
    const chain = {
      settlements: toSettlements(manifest),
      provePayer: toPayerProof(manifest, payTo),
      ownerOf: solana && createSolanaOwnerOf(solana),
    };
    return { manifest, payTo, facilitator, ...chain, ...(retired.includes(manifest) && { isRetired: true as const }) };
  }

  function toPayerProof({ network, asset, domain }: RailManifest, payTo: string): Rail["provePayer"] {
    const chain = evmChains.get(network);
    const solana = solanaClients.get(network);
    if (solana) return createSolanaPayerProof({ client: solana, payTo, mint: asset });
    if (!chain || !domain) return undefined;
    const { chainId } = chain.client;
    return createPayerProof(chain.client, { ...domain, chainId, verifyingContract: asset as `0x${string}` });
  }

  function toWatched(manifest: RailManifest): readonly WatchedRail[] {
    const { id, title, network, asset } = manifest;
    const chain = evmChains.get(network);
    if (!chain) return [];
    const { payTo } = railVariables(config, manifest);
    return [{ id, title, network, payTo, incoming: (signal) => readIncoming(chain.client, { asset, payTo }, signal) }];
  }

  function toFacilitator(manifest: RailManifest, payTo: string): Facilitator {
    const { network, asset, symbol, domain, decimals, smart_wallets: smartWallets } = manifest;
    const chain = evmChains.get(network);
    const token = domain && { asset, ...domain, decimals };
    const openLocal =
      chain && token
        ? (): Facilitator => {
            const terms = { treasury, store, tokens: [token], smartWallets };
            return createLocalFacilitator({ network: network as `eip155:${string}`, ...chain, ...terms });
          }
        : undefined;
    const facilitator = facilitators.of(manifest, { openLocal, settlements: toSettlements(manifest) });
    if (facilitatorsOf(manifest, site).join() === IN_PROCESS) return facilitator; // It checks its tokens itself.
    if (chain && token) return withCheck(facilitator, (signal) => checkToken(chain.client, token, signal), "sound");
    const client = solanaClients.get(network);
    const receiver = client && { client, payTo, mint: asset, symbol, decimals };
    return receiver
      ? withCheck(facilitator, (signal) => findReceiverObstacle(receiver, signal), "closed")
      : facilitator;
  }

  function toSettlements({ network }: RailManifest): SettlementReader {
    const chain = evmChains.get(network);
    if (chain) return createEvmSettlements({ client: chain.client });
    const client = solanaClients.get(network) as SolanaClient;
    return createSolanaSettlements({ client, clock, awake: () => performance.now() });
  }

  function toAnchor(): Anchor {
    // Also a retired one: services that were removed with it have anchors to write.
    const base = site.rails.find(({ id }) => id === ANCHOR_RAILS.base);
    const solana = findRail(ANCHOR_RAILS.solana);
    const chain = base && evmChains.get(base.network);
    const client = solana && solanaClients.get(solana.network);
    if (!chain) return closedAnchor(noBase());
    if (client && !config.treasury.solanaKey) return closedAnchor(missingKey("Solana"));
    const explorers = { base: base.explorer, solana: solana?.explorer ?? "" };
    const solanaSender = client && createSolanaSender({ client, network: solana.network, store, treasury, clock, log });
    return createAnchor({ client: chain.client, evmSender: chain.sender, solanaSender, treasury, explorers, log });
  }

  function toRefundRail(): RefundRail | undefined {
    const manifest = findRail(site.refunds?.rail);
    const chain = manifest && evmChains.get(manifest.network);
    return chain && createEvmRefundRail({ manifest, ...chain, treasury });
  }

  function findRail(id: string | undefined): RailManifest | undefined {
    return offered.find((rail) => rail.id === id);
  }

  function toReads(): Evm {
    const base = findRail(ANCHOR_RAILS.base);
    const chain = base && evmChains.get(base.network);
    if (chain) return createEvmReads(chain.client);
    const none = (): Promise<never> => Promise.reject(noBase());
    return { transaction: none, verifyMessage: none };
  }
}

/** An anchor that always throws, for a site that cannot anchor. */
function closedAnchor(problem: Problem): Anchor {
  const refuse = (): Promise<never> => Promise.reject(problem);
  return { write: refuse, ready: refuse };
}

const noBase = (): Problem => new Problem("unavailable", "This site has no rail base, whose chain is needed");

/** In wei. The native coin of every EVM chain here has 18 decimals. */
const toFeeCap = ({ max_fee = "0.001" }: RailManifest): bigint => toAtomic(max_fee, 18);
