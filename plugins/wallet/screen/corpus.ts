import { createHash } from "node:crypto";
import { readAddress } from "../address.ts";
import type { SdnEntry, SdnList } from "./sdn.ts";

/** A sanctions list with its version, as stored. */
export interface Corpus extends SdnList {
  /** `<origin>-<published>-<digest>`, e.g. `ofac-sdn-2026-09-10-3f5a0c11d2e4`: equal lists have equal versions. */
  readonly version: string;
}

/** The entries by the keys of their addresses. */
export type Listings = ReadonlyMap<string, readonly SdnEntry[]>;

/** `builtin`: the list in floor.ts. */
export type Origin = "ofac-sdn" | "builtin";

/** Adds the version; its digest is the first 12 hex digits of SHA-256 over the sorted entries. */
export function toCorpus(list: SdnList, origin: Origin): Corpus {
  const lines = list.entries.flatMap(({ uid, name, programs, addresses }) =>
    addresses.map(({ ticker, address }) => [readAddress(address).key, ticker, uid, name, ...programs].join("\t")),
  );
  const digest = createHash("sha256").update(lines.sort().join("\n")).digest("hex").slice(0, 12);
  return { ...list, version: `${origin}-${list.published}-${digest}` };
}

/** Builds the look-up index. */
export function toListings({ entries }: SdnList): Listings {
  const listings = new Map<string, SdnEntry[]>();
  for (const entry of entries)
    for (const key of new Set(entry.addresses.map(({ address }) => readAddress(address).key)))
      listings.set(key, [...(listings.get(key) ?? []), entry]);
  return listings;
}
