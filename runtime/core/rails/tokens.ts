import type { RailManifest } from "../set/manifest.ts";

/** The token that a rail takes. */
export type RailToken = Pick<RailManifest, "network" | "asset">;

export const isSameToken = (one: RailToken, other: RailToken): boolean =>
  one.network === other.network && isSameAddress(one.network, one.asset, other.asset);

/** Whether two addresses of a network are the same. The capitals of EVM addresses are only a checksum (EIP-55). */
export const isSameAddress = (network: string, one: string, other: string): boolean =>
  one === other || (network.startsWith("eip155:") && one.toLowerCase() === other.toLowerCase());
