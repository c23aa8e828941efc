import type { RailManifest } from "../set/manifest.ts";

/** The token that a rail takes. */
export type RailToken = Pick<RailManifest, "network" | "asset">;

export const isSameToken = (one: RailToken, other: RailToken): boolean =>
  one.network === other.network && isSameAddress(one.network, one.asset, other.asset);

/** Whether two addresses of a network are the same. The capitals of EVM addresses are only a checksum (EIP-55). */
export const isSameAddress = (network: string, one: string, other: string): boolean =>
  one === other || (network.startsWith("eip155:") && one.toLowerCase() === other.toLowerCase());

/** The rail of a token; undefined when no rail of the site has this token. */
export const railOfToken = (rails: readonly RailManifest[], token: RailToken): RailManifest | undefined =>
  rails.find((rail) => isSameToken(rail, token));

/** The symbol of a token; its address when no rail of the site has this token. */
export const currencyOf = (rails: readonly RailManifest[], token: RailToken): string =>
  railOfToken(rails, token)?.symbol ?? token.asset;

/** The block explorer's URL of a transaction; undefined when no rail of the network names an explorer. */
export const explorerOf = (
  rails: readonly RailManifest[],
  { network, transaction }: { readonly network: string; readonly transaction: string },
): string | undefined =>
  transaction === ""
    ? undefined
    : rails.find((rail) => rail.network === network)?.explorer.replace("{tx}", transaction);
