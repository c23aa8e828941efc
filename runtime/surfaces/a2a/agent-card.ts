import { PATHS } from "../../core/paths.ts";
import type { Identity } from "../../core/peers/identity.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { A2aOptions } from "./a2a.ts";
import { signCard } from "./agent-card-signatures.ts";
import { X402_EXTENSIONS } from "./payment.ts";
import { PEER_EXTENSION, toNamespace, toPeerBlock } from "./peers/block.ts";
import { MODES, toSkill, toX402Block } from "./skills.ts";

export interface AgentCardOptions extends Pick<A2aOptions, "services" | "baseUrl" | "facilitator" | "identity"> {
  readonly site: Pick<SiteManifest, "name" | "title" | "description" | "version" | "contact" | "rails">;
  /** Absolute URLs. */
  readonly links?: { readonly documentation?: string; readonly icon?: string };
}

/**
 * The document at `/.well-known/agent-card.json`: an A2A 0.3.0 agent card that 1.0 clients can read, too. It declares no
 * security scheme, since none is enforced. Peers publish their keys in the same fields of their own cards.
 */
export function toAgentCard({ services, site, baseUrl, facilitator, identity, links = {} }: AgentCardOptions): object {
  const url = baseUrl + PATHS.a2a;
  const door = toPeerBlock(url, baseUrl, identity.keys());
  const payments = { ...toX402Block(site, facilitator), rails: site.rails.map(toRail) };
  const card = {
    protocolVersion: "0.3.0",
    name: site.title,
    description: site.description,
    version: site.version,
    url,
    preferredTransport: "JSONRPC",
    additionalInterfaces: [{ url, transport: "JSONRPC" }],
    supportedInterfaces: ["1.0", "0.3"].map((protocolVersion) => ({
      url,
      protocolBinding: "JSONRPC",
      protocolVersion,
    })),
    provider: { organization: site.contact.name, url: site.contact.url },
    ...(links.documentation && { documentationUrl: links.documentation }),
    ...(links.icon && { iconUrl: links.icon }),
    capabilities: {
      streaming: false,
      pushNotifications: false,
      stateTransitionHistory: false,
      extendedAgentCard: false,
      extensions: [
        ...X402_EXTENSIONS.map((uri) => ({ uri, description: PAYING, required: false, params: payments })),
        { uri: PEER_EXTENSION, description: PEERING, required: false, params: door },
      ],
    },
    supportsAuthenticatedExtendedCard: false,
    defaultInputModes: MODES.input,
    defaultOutputModes: MODES.output,
    skills: services.map(toSkill),
    extensions: { [toNamespace(site.name)]: door, [`${site.name}:x402`]: payments },
  };
  return signCard(card, identity, baseUrl + PATHS.jwks);
}

/** Our active keys, to which the `jku` of the card's signatures points (RFC 7517, RFC 8037). */
export function toJwks(identity: Identity): object {
  const active = identity.keys().filter(({ status }) => status === "active");
  return {
    keys: active.map(({ key_id: kid, public_key_der_base64: der }) => ({
      kty: "OKP",
      crv: "Ed25519",
      use: "sig",
      alg: "EdDSA",
      kid,
      x: Buffer.from(der, "base64").subarray(-32).toString("base64url"),
    })),
  };
}

const toRail = ({ network, asset, symbol, decimals, testnet }: SiteManifest["rails"][number]): object => ({
  network,
  asset,
  symbol,
  decimals,
  ...(testnet && { testnet }),
});

const PAYING = "Skills are paid for within their tasks: the task asks, and the next message brings the payment.";
const PEERING =
  "Signed requests between agents that publish an Ed25519 key in their own cards: hello, capabilities, quotes, receipts.";
