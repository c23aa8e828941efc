import type { RailManifest, SiteManifest } from "../set/manifest.ts";
import { tiersOf } from "../set/price.ts";
import { facilitatorsOf } from "./facilitators.ts";
import { isTestSite } from "./networks.ts";
import { isSameToken } from "./tokens.ts";

/**
 * Adds to a site the rails that only earlier sites had, with their facilitators and tiers: offers on them can still be
 * paid, and payments there settled. Test money buys nothing once real money is taken.
 */
export function withRetiredRails(site: SiteManifest, earlier: readonly SiteManifest[]): SiteManifest {
  return earlier.filter((one) => isTestSite(one) === isTestSite(site)).reduce(withRailsOf, site);
}

function withRailsOf(site: SiteManifest, earlier: SiteManifest): SiteManifest {
  const gone = earlier.rails.filter((rail) => !site.rails.some((own) => isSameToken(own, rail)));
  if (gone.length === 0) return site;
  const settlers = new Set(gone.flatMap((rail) => facilitatorsOf(rail, earlier)));
  const own = site.facilitators ?? [];
  const theirs = (earlier.facilitators ?? []).filter(
    ({ id }) => settlers.has(id) && !own.some((facilitator) => facilitator.id === id),
  );
  const tariffs = gone.flatMap(({ currency }) => {
    const tiers = tiersOf(site, currency) ? undefined : tiersOf(earlier, currency);
    return tiers ? [[currency, { tiers }] as const] : [];
  });
  return {
    ...site,
    rails: [...named(site.rails, site), ...named(gone, earlier)],
    facilitators: [...own, ...theirs],
    currencies: { ...site.currencies, ...Object.fromEntries(tariffs) },
  };
}

/** Rails that name their facilitators: a rail that names none means all of its own site. */
const named = (rails: readonly RailManifest[], site: SiteManifest): RailManifest[] =>
  rails.map((rail) => ({ ...rail, facilitator: facilitatorsOf(rail, site) }));
