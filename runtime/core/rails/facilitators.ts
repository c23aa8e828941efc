import type { RailManifest, SiteManifest } from "../set/manifest.ts";

/** The names of the facilitator in the environment and of payphone's own. */
export const REMOTE = "remote";
export const IN_PROCESS = "in-process";

/** The facilitators of a rail in the order of failover: `remote`, `in-process` or ids of the site's `facilitators`. */
export function facilitatorsOf(
  { facilitator, network }: Pick<RailManifest, "facilitator" | "network">,
  { facilitators = [] }: Partial<Pick<SiteManifest, "facilitators">>,
): readonly string[] {
  if (facilitator !== undefined) return typeof facilitator === "string" ? [facilitator] : facilitator;
  const named = facilitators.filter(({ networks }) => networks?.includes(network) ?? true).map(({ id }) => id);
  return named.length > 0 ? named : [REMOTE];
}

/** Whether payphone itself settles on a rail, alone or besides other facilitators. */
export const isInProcess = (rail: RailManifest, site: Partial<Pick<SiteManifest, "facilitators">>): boolean =>
  facilitatorsOf(rail, site).includes(IN_PROCESS);

/** The site of a sandbox: its own facilitator replaces all others. */
export const withOneFacilitator = ({ facilitators: _, ...site }: SiteManifest): SiteManifest => ({
  ...site,
  rails: site.rails.map((rail) => ({ ...rail, facilitator: rail.facilitator === IN_PROCESS ? IN_PROCESS : REMOTE })),
});
