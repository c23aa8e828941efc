import type { Plugins } from "#plugin";

/** A name's address on one chain (schemas/NameAddress.json). */
export type NameAddress = NonNullable<Plugins["wallet"]["resolve"]["output"]["addresses"]>[number];

/** A registry's answer for a name. */
export interface Resolution {
  readonly addresses: readonly NameAddress[];
  /** Sentences: why there is no address, or warnings. */
  readonly notes: readonly string[];
  /** True when one more address may exist but could not be read. */
  readonly isPartial?: boolean;
}

/** A name registry. @throws (its methods do) Problem `upstream-failed` when the registry cannot be read; the signal's reason. */
export interface NameRegistry {
  /** @param name normalized, with its suffix. */
  resolve(name: string, signal: AbortSignal): Promise<Resolution>;
  /** The name that the address's owner has set, if it resolves to the address; else null. @param address canonical. */
  primaryName(address: string, signal: AbortSignal): Promise<string | null>;
}

/** `ttl_hint_seconds` when the registry sets no TTL. */
export const DEFAULT_TTL_SECONDS = 300;

/** A resolution without an address, with the reasons. */
export const unresolved = (...notes: string[]): Resolution => ({ addresses: [], notes });
