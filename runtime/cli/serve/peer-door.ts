import type { CreateLimiter } from "../../core/limiter.ts";
import { PATHS } from "../../core/paths.ts";
import type { Identity } from "../../core/peers/identity.ts";
import { facilitatorsOf, IN_PROCESS } from "../../core/rails/facilitators.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { createGuardedFetch } from "../../drivers/http/guarded-fetch.ts";
import { createPeerBudgets } from "../../drivers/peers/budgets.ts";
import { createPeerCards } from "../../drivers/peers/cards.ts";
import { openIdentity } from "../../drivers/peers/identity.ts";
import { type A2aOptions, createA2a } from "../../surfaces/a2a/a2a.ts";
import { type AgentCardOptions, toAgentCard, toJwks } from "../../surfaces/a2a/agent-card.ts";
import { didPathOf, toDidDocument } from "../../surfaces/discovery/did.ts";
import { type Document, toJsonDocument } from "../../surfaces/http/document.ts";
import type { RpcDoor } from "../../surfaces/rpc/door.ts";
import type { Config, PeerConfig } from "../config/config.ts";
import { facilitatorVariables } from "../config/serve.ts";

export interface PeerDoorDeps
  extends Pick<
    A2aOptions,
    "services" | "routed" | "invoke" | "baseUrl" | "identity" | "exchanges" | "signIns" | "store" | "clock" | "log"
  > {
  readonly config: PeerConfig & Pick<Config, "facilitator" | "env">;
  readonly site: AgentCardOptions["site"] & Pick<SiteManifest, "facilitators">;
  readonly createLimiter: CreateLimiter;
  /** Absolute URLs that the card shows. */
  readonly links: NonNullable<AgentCardOptions["links"]>;
}

/** The A2A door and the documents that describe it, by path. */
export interface OpenPeerDoor {
  readonly doors: ReadonlyMap<string, RpcDoor>;
  readonly documents: ReadonlyMap<string, Document>;
  close(): Promise<void>;
}

export function openPeerDoor({ config, createLimiter, links, ...own }: PeerDoorDeps): OpenPeerDoor {
  const { site, baseUrl, identity, clock } = own;
  const web = createGuardedFetch();
  const budgets = createPeerBudgets(createLimiter);
  const shown = { ...own, facilitator: toFacilitator(config, site) };
  const peerKeys = createPeerCards({ web, clock, budgets });
  const card = toJsonDocument(toAgentCard({ ...shown, links }));
  return {
    doors: new Map([[PATHS.a2a, createA2a({ ...shown, peerKeys, budgets })]]),
    documents: new Map([
      [PATHS.agentCard, card],
      [PATHS.oldAgentCard, card],
      [PATHS.jwks, toJsonDocument(toJwks(identity))],
      [didPathOf(baseUrl), toJsonDocument(toDidDocument(identity, baseUrl))],
    ]),
    close: web.close,
  };
}

/**
 * The configured identity; otherwise one that is kept in Redis, or in the data directory. @throws Problem `unavailable`
 * when it cannot be read.
 */
export function openOwnIdentity({ config, store, clock }: IdentityDeps): Promise<Identity> {
  const { identityKeys: keys, dataDir, redisUrl } = config;
  return openIdentity({ keys, dataDir, store: redisUrl === undefined ? undefined : store, clock });
}

type IdentityDeps = Pick<PeerDoorDeps, "config" | "store" | "clock">;

/** The facilitator that the agent card names: the first one of the first rail. */
function toFacilitator(config: PeerConfig & Pick<Config, "facilitator" | "env">, site: PeerDoorDeps["site"]): string {
  const { url, cdp } = config.facilitator;
  const name = site.rails[0] && facilitatorsOf(site.rails[0], site)[0];
  if (name === IN_PROCESS) return IN_PROCESS; // The environment's can settle on the other rails.
  const manifest = site.facilitators?.find(({ id }) => id === name);
  const own = manifest && facilitatorVariables(config, manifest)?.url;
  return own ?? url ?? (cdp ? "https://api.cdp.coinbase.com" : IN_PROCESS);
}
