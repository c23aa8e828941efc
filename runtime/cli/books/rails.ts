import type { RailManifest } from "../../core/set/manifest.ts";

/** The rail of a token; undefined where the site has none of it any more. */
export const railOfToken = (
  rails: readonly RailManifest[],
  { network, asset }: { readonly network: string; readonly asset: string },
): RailManifest | undefined =>
  rails.find((rail) => rail.network === network && rail.asset.toLowerCase() === asset.toLowerCase());

/** Where a transaction can be looked at; undefined where no rail of the network says. */
export const explorerOf = (
  rails: readonly RailManifest[],
  { network, transaction }: { readonly network: string; readonly transaction: string },
): string | undefined =>
  transaction === ""
    ? undefined
    : rails.find((rail) => rail.network === network)?.explorer.replace("{tx}", transaction);
