import type { RailManifest } from "../../core/set/manifest.ts";

/** The rail of a token; undefined when no rail of the site has this token. */
export const railOfToken = (
  rails: readonly RailManifest[],
  { network, asset }: { readonly network: string; readonly asset: string },
): RailManifest | undefined =>
  rails.find((rail) => rail.network === network && rail.asset.toLowerCase() === asset.toLowerCase());

/** The block explorer's URL of a transaction; undefined when no rail of the network names an explorer. */
export const explorerOf = (
  rails: readonly RailManifest[],
  { network, transaction }: { readonly network: string; readonly transaction: string },
): string | undefined =>
  transaction === ""
    ? undefined
    : rails.find((rail) => rail.network === network)?.explorer.replace("{tx}", transaction);
