import { createHash } from "node:crypto";
import { readAddress } from "./address.ts";
import type { SdnEntry, SdnList } from "./sdn.ts";

/** A sanctions list, as it is kept and shared. */
export interface Corpus extends SdnList {
  /** `<origin>-<published>-<digest>`, e.g. `ofac-sdn-2026-09-10-3f5a0c11d2e4`: the same lists have the same version. */
  readonly version: string;
}

/** The entries that name an address, by the address's key. */
export type Listings = ReadonlyMap<string, readonly SdnEntry[]>;

/** `builtin`: what this program knows by itself. */
export type Origin = "ofac-sdn" | "builtin";

/** The list with its version; the digest is the beginning of SHA-256 over its sorted lines. */
export function toCorpus(list: SdnList, origin: Origin): Corpus {
  const lines = list.entries.flatMap(({ uid, name, programs, addresses }) =>
    addresses.map(({ ticker, address }) => [readAddress(address).key, ticker, uid, name, ...programs].join("\t")),
  );
  const digest = createHash("sha256").update(lines.sort().join("\n")).digest("hex").slice(0, 12);
  return { ...list, version: `${origin}-${list.published}-${digest}` };
}

/** The index that look-ups go to. */
export function toListings({ entries }: SdnList): Listings {
  const listings = new Map<string, SdnEntry[]>();
  for (const entry of entries)
    for (const key of new Set(entry.addresses.map(({ address }) => readAddress(address).key)))
      listings.set(key, [...(listings.get(key) ?? []), entry]);
  return listings;
}
