import { Problem } from "../../../runtime/api/problem.ts";
import type { SiteManifest } from "../../../runtime/core/set/manifest.ts";
import { createScriptedRail, type ScriptedRail } from "../chains/scripted-rail.ts";

/** A site on these rails, for the services that tests sell. */
export const toSite = (rails: readonly ScriptedRail[]): SiteManifest => ({
  name: "payphone",
  title: "Payphone",
  description: "Dice for tests.",
  version: "0.3.0",
  catalog_version: "2.0",
  contact: { name: "payphone", url: "https://example.com" },
  rails: rails.map(({ manifest }) => manifest),
  yen_tiers: { "0.001": "0.1", "0.002": "0.2" },
  limits: {
    offer_seconds: 300,
    deadline_seconds: 20,
    body_bytes: 65_536,
    body_depth: 64,
    url_bytes: 8192,
    unpaid_per_minute: 60_000,
    unpaid_burst: 10_000,
  },
});

/** JPYC on Polygon. */
export const createPolygonRail = (): ScriptedRail =>
  createScriptedRail({
    id: "polygon",
    title: "JPYC on Polygon",
    network: "eip155:137",
    asset: "0xE7C3D8C9a439feDe00D2600032D5dB0Be71C3c29",
    symbol: "JPYC",
    decimals: 18,
    currency: "jpy",
  });

/** A rule that no schema can express. */
export function checkRange({ low, high }: { readonly low: number; readonly high: number }): void {
  if (low <= high) return;
  const issue = { loc: ["body", "high"], msg: "Value error, high must not be below low", type: "value_error" };
  throw new Problem("invalid-input", undefined, { issues: [issue] });
}
