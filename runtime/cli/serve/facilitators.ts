import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { FacilitatorTrust } from "../../core/payments/trust.ts";
import { facilitatorsOf, IN_PROCESS, REMOTE } from "../../core/rails/facilitators.ts";
import type { RailManifest, SiteManifest } from "../../core/set/manifest.ts";
import type { Facilitator, SettlementReader } from "../../core/x402/x402.ts";
import { createCdpFacilitator } from "../../drivers/facilitator/cdp.ts";
import { createFailover } from "../../drivers/facilitator/failover.ts";
import { createHttpFacilitator, type HttpFacilitator } from "../../drivers/facilitator/http.ts";
import { createMember, type FacilitatorMember } from "../../drivers/facilitator/member.ts";
import type { Config } from "../config/config.ts";
import { facilitatorVariables } from "../config/serve.ts";

export interface FacilitatorDeps {
  readonly config: Config;
  readonly site: SiteManifest;
  readonly log: Log;
  /** When omitted, all facilitators are trusted. */
  readonly trust?: Pick<FacilitatorTrust, "reasonAgainst"> | undefined;
}

/** What a rail needs besides the facilitators that it names. */
export interface RailParts {
  /** Opens payphone's own facilitator for this rail; undefined when this process cannot settle on the rail's chain. */
  readonly openLocal: (() => Facilitator) | undefined;
  readonly settlements: SettlementReader;
}

/** The facilitators of the site's rails. Nothing is connected before its first use. */
export interface Facilitators {
  /** @throws Problem `bad-request` when the configuration lacks one. */
  of(rail: RailManifest, parts: RailParts): Facilitator;
  close(): Promise<void>;
}

export function openFacilitators({ config, site, log, trust }: FacilitatorDeps): Facilitators {
  const opened = new Map<string, HttpFacilitator>();
  const members = new Map<string, FacilitatorMember>();

  const openHttp = (name: string): HttpFacilitator => {
    const known = opened.get(name) ?? connect(config, site, name);
    opened.set(name, known);
    return known;
  };
  const open = (name: string, { openLocal }: RailParts): Facilitator =>
    name === IN_PROCESS && openLocal ? openLocal() : openHttp(name);
  const toMember = (name: string, rail: RailManifest, parts: RailParts): FacilitatorMember => {
    const key = name === IN_PROCESS ? `${name} ${rail.network} ${rail.asset}` : name;
    const member = members.get(key) ?? createMember({ name, facilitator: open(name, parts), log });
    members.set(key, member);
    return member;
  };

  return {
    of(rail, parts) {
      const names = facilitatorsOf(rail, site);
      const [only = REMOTE, ...others] = names;
      if (others.length === 0) return open(only, parts);
      const isTrusted = (name: string, network: string): boolean => !trust?.reasonAgainst(name, network);
      const all = names.map((name) => toMember(name, rail, parts));
      return createFailover({ members: all, settlements: parts.settlements, isTrusted, log });
    },
    async close() {
      for (const member of members.values()) member.close();
      for (const facilitator of opened.values()) await facilitator.close();
    },
  };
}

function connect(config: Config, site: SiteManifest, name: string): HttpFacilitator {
  const { url, headers, cdp } = config.facilitator;
  if (name === REMOTE && cdp) return createCdpFacilitator({ apiKeyId: cdp.keyId, apiKeySecret: cdp.keySecret, url });
  const manifest = site.facilitators?.find(({ id }) => id === name);
  const place = manifest ? facilitatorVariables(config, manifest) : url === undefined ? undefined : { url, headers };
  if (!place || (!manifest && name !== REMOTE))
    throw new Problem("bad-request", `The facilitator ${name} is not configured`);
  return createHttpFacilitator({ url: place.url, headers: async () => place.headers });
}
