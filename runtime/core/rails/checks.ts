import { EVM_ADDRESS, SOLANA_ADDRESS } from "../account.ts";
import type { Path } from "../schema/nodes.ts";
import { didYouMean } from "../set/did-you-mean.ts";
import type { SiteDraft } from "../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../set/faults.ts";
import { isEvm, type RailManifest } from "../set/manifest.ts";
import { isExact, tiersOf, toAtomic } from "../set/price.ts";
import { facilitatorsOf, IN_PROCESS, REMOTE } from "./facilitators.ts";
import { explainTestnet } from "./networks.ts";
import { isSameToken } from "./tokens.ts";

/**
 * Checks the rails of a site, and the facilitators and currencies that they name.
 * @param isWhole whether the draft is complete; otherwise a missing facilitator or currency may have its own fault
 */
export function checkRails(site: SiteDraft, isWhole: boolean): Fault[] {
  const { rails = [] } = site.data;
  return [
    ...rails.flatMap((rail, at) => [
      ...checkTwins(site, rails, at),
      ...checkToken(site, rail, ["rails", at]),
      ...checkTestnet(site, rails, at),
      ...(isWhole ? checkSettlers(site, rail, ["rails", at]) : []),
      ...checkSmartWallets(site, rail, ["rails", at]),
      ...(isWhole ? checkCurrency(site, rail, ["rails", at]) : []),
    ]),
    ...checkFacilitators(site),
    ...checkTiers(site, rails),
  ];
}

function checkTwins(site: SiteDraft, rails: readonly RailManifest[], at: number): Fault[] {
  const own = rails[at] as RailManifest;
  const sameId = rails.findIndex((rail) => rail.id === own.id);
  const sameToken = rails.findIndex((rail) => isSameToken(rail, own));
  const sameNetwork = rails.findIndex((rail) => rail.network === own.network);
  const node = rails[sameNetwork]?.rpc;
  const faults: Fault[] = [];
  const fail = (key: keyof RailManifest, code: "duplicate-rail" | "bad-value", complaint: string): void =>
    void faults.push(faultAt(site, ["rails", at, key], code, complaint));
  if (sameId < at) fail("id", "duplicate-rail", `rails[${sameId}] has the same id`);
  if (sameToken < at) fail("asset", "duplicate-rail", `rails[${sameToken}] has the same asset on the same network`);
  if (sameNetwork < at && node !== own.rpc)
    fail("rpc", "bad-value", `must be "${node}", as in rails[${sameNetwork}]: a network has one node`);
  return faults;
}

function checkToken(site: SiteDraft, rail: RailManifest, path: Path): Fault[] {
  const { asset, domain } = rail;
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
  return faults;
}

/** Buyers must not mistake test money for real money, and sellers must not sell real work for test money. */
function checkTestnet(site: SiteDraft, rails: readonly RailManifest[], at: number): Fault[] {
  const { network, testnet = false } = rails[at] as RailManifest;
  const path = ["rails", at, testnet ? "testnet" : "network"];
  const contradiction = explainTestnet({ network, testnet });
  if (contradiction) return [faultAt(site, path, "test-money", contradiction)];
  const isTest = rails[0]?.testnet ?? false;
  if (testnet === isTest) return [];
  const [here, there] = testnet ? ["test", "real"] : ["real", "test"];
  const complaint = `is ${here} money, and rails[0] is ${there} money: a set has one kind only`;
  return [faultAt(site, path, "test-money", complaint)];
}

function checkSettlers(site: SiteDraft, rail: RailManifest, path: Path): Fault[] {
  const { facilitators = [] } = site.data;
  const known = [REMOTE, IN_PROCESS, ...facilitators.map(({ id }) => id)];
  const place = [...path, "facilitator"];
  return [rail.facilitator ?? []].flat().flatMap((name, at) => {
    const where = typeof rail.facilitator === "string" ? place : [...place, at];
    if (name === IN_PROCESS && !isEvm(rail))
      return [faultAt(site, where, "bad-value", "payphone settles by itself on EVM networks only")];
    if (!known.includes(name)) {
      const complaint = `must be "remote", "in-process" or one of \`facilitators\`${didYouMean(name, known)}`;
      return [faultAt(site, where, "unknown-facilitator", complaint)];
    }
    const networks = facilitators.find(({ id }) => id === name)?.networks;
    if (networks?.includes(rail.network) ?? true) return [];
    return [faultAt(site, where, "unknown-facilitator", `its networks do not include ${rail.network}`)];
  });
}

function checkSmartWallets(site: SiteDraft, rail: RailManifest, path: Path): Fault[] {
  const { smart_wallets } = rail;
  if (!smart_wallets) return [];
  const at = [...path, "smart_wallets"];
  if (!facilitatorsOf(rail, site.data).includes(IN_PROCESS))
    return [faultAtKey(site, at, "unknown-key", "only in-process rails deploy wallets; here the facilitator decides")];
  const complaint = "must be an EVM address: 0x and 40 hex digits";
  return smart_wallets.factories.flatMap((factory, index) =>
    EVM_ADDRESS.test(factory) ? [] : [faultAt(site, [...at, "factories", index], "bad-asset", complaint)],
  );
}

function checkCurrency(site: SiteDraft, { currency }: RailManifest, path: Path): Fault[] {
  if (currency === "usd" || tiersOf(site.data, currency)) return [];
  const known = ["usd", ...Object.keys(site.data.currencies ?? {}), ...(site.data.yen_tiers ? ["jpy"] : [])];
  const complaint = `\`currencies\` has no tiers for it${didYouMean(currency, known)}`;
  return [faultAt(site, [...path, "currency"], "unknown-currency", complaint)];
}

function checkFacilitators(site: SiteDraft): Fault[] {
  const { facilitators = [] } = site.data;
  return facilitators.flatMap(({ id, url, variable }, at) => {
    const path = ["facilitators", at];
    const first = facilitators.findIndex((other) => other.id === id);
    const fail = (complaint: string): Fault[] => [faultAt(site, [...path, "id"], "duplicate-facilitator", complaint)];
    if (id === REMOTE || id === IN_PROCESS) return fail("is a word that payphone reserves: choose another name");
    if (first !== at) return fail(`facilitators[${first}] has the same id`);
    if (url !== undefined || variable !== undefined) return [];
    const complaint = "is missing, and so is variable: one of them must say where the facilitator is";
    return [{ ...faultAtKey(site, [...path, "url"], "missing-key", complaint), ...site.locate(path, "key") }];
  });
}

function checkTiers(site: SiteDraft, rails: readonly RailManifest[]): Fault[] {
  const { currencies = {}, yen_tiers } = site.data;
  const lists = Object.entries(currencies).map(([currency, { tiers }]) => ({
    currency,
    tiers,
    path: ["currencies", currency, "tiers"],
  }));
  const faults: Fault[] = [];
  if (Object.hasOwn(currencies, "usd"))
    faults.push(faultAtKey(site, ["currencies", "usd"], "unknown-key", "prices are in dollars already"));
  if (yen_tiers && Object.hasOwn(currencies, "jpy"))
    faults.push(faultAtKey(site, ["yen_tiers"], "unknown-key", "currencies.jpy says the same: keep one of them"));
  else if (yen_tiers) lists.push({ currency: "jpy", tiers: yen_tiers, path: ["yen_tiers"] });
  return [...faults, ...lists.flatMap((list) => checkTierList(site, rails, list))];
}

interface TierList {
  readonly currency: string;
  readonly tiers: Readonly<Record<string, string>>;
  readonly path: Path;
}

function checkTierList(site: SiteDraft, rails: readonly RailManifest[], { currency, tiers, path }: TierList): Fault[] {
  const users = rails.filter((rail) => rail.currency === currency);
  const prices = Object.keys(tiers).map((price) => toAtomic(price, 18));
  return Object.entries(tiers).flatMap(([price, amount], at) => {
    const first = prices.indexOf(prices[at] as bigint);
    if (first !== at) {
      const twin = Object.keys(tiers)[first];
      return [faultAtKey(site, [...path, price], "duplicate-tier", `is the same price as ${twin}`)];
    }
    return users
      .filter(({ decimals }) => !isExact(amount, decimals))
      .map(({ title, decimals }) => {
        const complaint = `${title} has ${decimals} decimals and cannot hold it`;
        return faultAt(site, [...path, price], "price-too-fine", complaint);
      });
  });
}
