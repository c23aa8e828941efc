import { type Cache, Problem } from "#plugin";
import type { Directory, Signatures } from "./directories.ts";

/** The signatures of a selector, with their directory. */
export interface Listing extends Signatures {
  readonly source: "openchain" | "4byte";
}

const DAY_MS = 24 * 60 * 60 * 1000;
const TEN_MINUTES_MS = 10 * 60 * 1000;

/**
 * Looks a selector up in Openchain, and in 4byte when Openchain knows none or fails. Openchain's signatures are cached
 * for a day, all other results for ten minutes. A selector is unknown only when both directories say so.
 * @throws Problem of the first directory that failed.
 */
export function createLookup(
  cache: Cache,
  { openchain, fourbyte }: { readonly openchain: Directory; readonly fourbyte: Directory },
): (selector: string, signal: AbortSignal) => Promise<Listing> {
  return async (selector, signal) => {
    const kept = await cache.get<Listing>(selector);
    if (kept) return kept.value;
    const first = await openchain(selector, signal).catch(toFailure);
    if (isKnown(first)) return keep(selector, { source: "openchain", ...first }, DAY_MS);
    const second = await fourbyte(selector, signal).catch(toFailure);
    if (isKnown(second)) return keep(selector, { source: "4byte", ...second }, TEN_MINUTES_MS);
    for (const failure of [first, second]) if (failure instanceof Problem) throw failure;
    return keep(selector, { source: "openchain", signatures: [], verified: 0 }, TEN_MINUTES_MS);
  };

  async function keep(selector: string, listing: Listing, ttlMs: number): Promise<Listing> {
    await cache.set(selector, listing, ttlMs);
    return listing;
  }
}

/** Returns a directory's failure, so that the other directory is tried. Rethrows the abort of the call. */
function toFailure(error: unknown): Problem {
  if (error instanceof Problem) return error;
  throw error;
}

const isKnown = (answer: Signatures | Problem): answer is Signatures =>
  !(answer instanceof Problem) && answer.signatures.length > 0;
