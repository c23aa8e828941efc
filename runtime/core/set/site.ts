import type { Path } from "../schema/nodes.ts";
import type { SiteDraft } from "./draft.ts";
import { type Fault, faultAt, faultAtKey } from "./faults.ts";
import { isEvm, type RailManifest, type SiteManifest, type UpstreamManifest } from "./manifest.ts";
import { isExact, toAtomic } from "./price.ts";

/** How long before an offer's end a call must be done, so that it can still be settled. */
export const SETTLE_SECONDS = 30;

/** Checks the values of `_site.yaml` against each other. */
export function checkSite(site: SiteDraft): Fault[] {
  const { rails = [], upstreams = [], yen_tiers = {} } = site.data;
  return [
    ...upstreams.flatMap((_, at) => checkUpstream(site, upstreams, at)),
    ...rails.flatMap((rail, at) => [...checkTwins(site, rails, at), ...checkRail(site, rail, ["rails", at])]),
    ...checkTiers(site, rails, yen_tiers),
    ...checkLimits(site),
  ];
}

function checkTwins(site: SiteDraft, rails: readonly RailManifest[], at: number): Fault[] {
  return (["id", "network"] as const).flatMap((key) => {
    const first = rails.findIndex((rail) => rail[key] === rails[at]?.[key]);
    return first === at
      ? []
      : [faultAt(site, ["rails", at, key], "duplicate-rail", `rails[${first}] has the same ${key}`)];
  });
}

function checkUpstream(site: SiteDraft, upstreams: readonly UpstreamManifest[], at: number): Fault[] {
  const { id, url, variable } = upstreams[at] as UpstreamManifest;
  const path = ["upstreams", at];
  const first = upstreams.findIndex((upstream) => upstream.id === id);
  if (first !== at)
    return [faultAt(site, [...path, "id"], "duplicate-upstream", `upstreams[${first}] has the same id`)];
  if (url !== undefined || variable !== undefined) return [];
  const complaint = "is missing, and so is variable: one of them must say where the source is";
  return [{ ...faultAtKey(site, [...path, "url"], "missing-key", complaint), ...site.locate(path, "key") }];
}

const EVM_ADDRESS = /^0x[0-9a-fA-F]{40}$/;
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

function checkRail(site: SiteDraft, rail: RailManifest, path: Path): Fault[] {
  const { asset, domain, facilitator } = rail;
  const faults: Fault[] = [];
  const onEvm = isEvm(rail);
  if (!(onEvm ? EVM_ADDRESS : SOLANA_ADDRESS).test(asset)) {
    const complaint = onEvm
      ? "must be an EVM address: 0x and 40 hex digits"
      : "must be a Solana mint: 32 bytes in base58";
    faults.push(faultAt(site, [...path, "asset"], "bad-asset", complaint));
  }
  if (onEvm && !domain) {
    const place = site.locate(path, "key");
    const complaint = "is missing; payments on EVM networks are signed for the token's EIP-712 domain";
    faults.push({ ...faultAtKey(site, [...path, "domain"], "missing-key", complaint), ...place });
  }
  if (!onEvm && domain)
    faults.push(faultAtKey(site, [...path, "domain"], "unknown-key", "only EVM rails have a domain"));
  if (!onEvm && facilitator === "in-process")
    faults.push(
      faultAt(site, [...path, "facilitator"], "bad-value", "payphone settles by itself on EVM networks only"),
    );
  return [...faults, ...checkSmartWallets(site, rail, path)];
}

function checkSmartWallets(site: SiteDraft, { facilitator, smart_wallets }: RailManifest, path: Path): Fault[] {
  if (!smart_wallets) return [];
  const at = [...path, "smart_wallets"];
  if (facilitator !== "in-process")
    return [faultAtKey(site, at, "unknown-key", "only in-process rails deploy wallets; here the facilitator decides")];
  const complaint = "must be an EVM address: 0x and 40 hex digits";
  return smart_wallets.factories.flatMap((factory, index) =>
    EVM_ADDRESS.test(factory) ? [] : [faultAt(site, [...at, "factories", index], "bad-asset", complaint)],
  );
}

function checkTiers(site: SiteDraft, rails: readonly RailManifest[], tiers: SiteManifest["yen_tiers"]): Fault[] {
  const yen = rails.filter(({ currency }) => currency === "jpy");
  const prices = Object.keys(tiers).map((price) => toAtomic(price, 18));
  return Object.entries(tiers).flatMap(([price, amount], at) => {
    const first = prices.indexOf(prices[at] as bigint);
    if (first !== at) {
      const twin = Object.keys(tiers)[first];
      return [faultAtKey(site, ["yen_tiers", price], "duplicate-tier", `is the same price as ${twin}`)];
    }
    return yen
      .filter(({ decimals }) => !isExact(amount, decimals))
      .map(({ title, decimals }) => {
        const complaint = `${title} has ${decimals} decimals and cannot hold it`;
        return faultAt(site, ["yen_tiers", price], "price-too-fine", complaint);
      });
  });
}

function checkLimits(site: SiteDraft): Fault[] {
  const { limits } = site.data;
  if (!limits) return [];
  const most = limits.offer_seconds - SETTLE_SECONDS;
  if (limits.deadline_seconds <= most) return [];
  const complaint = `must be at most ${most}: offer_seconds less the ${SETTLE_SECONDS} that settling may take`;
  return [faultAt(site, ["limits", "deadline_seconds"], "deadline-too-long", complaint)];
}
