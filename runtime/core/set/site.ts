import type { SiteDraft } from "./draft.ts";
import { type Fault, faultAt, faultAtKey } from "./faults.ts";
import type { UpstreamManifest } from "./manifest.ts";

/** How long before an offer's end a call must be done, so that it can still be settled. */
export const SETTLE_SECONDS = 30;

/** Checks the values of `_site.yaml` against each other, but for the rails. */
export function checkSite(site: SiteDraft): Fault[] {
  const { upstreams = [] } = site.data;
  return [...upstreams.flatMap((_, at) => checkUpstream(site, upstreams, at)), ...checkLimits(site)];
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

function checkLimits(site: SiteDraft): Fault[] {
  const { limits } = site.data;
  if (!limits) return [];
  const most = limits.offer_seconds - SETTLE_SECONDS;
  if (limits.deadline_seconds <= most) return [];
  const complaint = `must be at most ${most}: offer_seconds less the ${SETTLE_SECONDS} that settling may take`;
  return [faultAt(site, ["limits", "deadline_seconds"], "deadline-too-long", complaint)];
}
