/** Where a name leads on one chain (specification 2.8, NameAddress). */
export interface NameAddress {
  readonly chain: "ethereum" | "solana";
  /** EIP-55 checksummed, or base58. */
  readonly address: string;
  readonly ttl_hint_seconds: number;
}

/** What a registry says of a name. */
export interface Resolution {
  readonly addresses: readonly NameAddress[];
  /** Sentences: why there is no address, or what to beware of. */
  readonly notes: readonly string[];
  /** True where there may be one more address, which could not be asked for. */
  readonly isPartial?: boolean;
}

/** A registry of names. Its methods throw Problem `upstream-failed` when the registry could not be asked; the signal's reason. */
export interface Registry {
  /** @param name normalized, with its suffix. */
  resolve(name: string, signal: AbortSignal): Promise<Resolution>;
  /** The name that the address's owner has chosen for it, if that name leads back to the address. @param address canonical. */
  primaryName(address: string, signal: AbortSignal): Promise<string | null>;
}

/** How long an address may be believed where its registry does not say. */
export const DEFAULT_TTL_SECONDS = 300;

/** No address, and why. */
export const unresolved = (...notes: string[]): Resolution => ({ addresses: [], notes });
