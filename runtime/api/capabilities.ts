/** What the runtime lends to plugins, by name. Each is opened on its first use, so that a plugin pays only for what it takes. */

/** A 0x-prefixed hex string. */
export type Hex = `0x${string}`;

/** Milliseconds since the Unix epoch, injectable so that tests own the time. */
export interface Clock {
  now(): number;
}

/** Structured log: an event name and its fields. Secrets are removed by the driver. */
export interface Log {
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}

/** The operator's own keys. Private keys never leave the driver. */
export interface Treasury {
  /** The treasury's EVM address, EIP-55 checksummed. */
  evmAddress(): Promise<Hex>;
  /** EIP-191 `personal_sign` over the UTF-8 text; 65 bytes. */
  signMessage(text: string): Promise<Hex>;
}

/** Where one hash stands on one chain (specification 2.1). */
export interface ChainAnchor {
  readonly tx: string;
  readonly explorer_url: string;
}

/** Where one hash stands on both chains. */
export interface AnchorReceipt {
  readonly base: ChainAnchor;
  /** null when the Solana side failed; the Base anchor still proves the hash. */
  readonly solana: ChainAnchor | null;
  /** Unix seconds when the transactions were broadcast. */
  readonly anchored_at: number;
}

/** Writes a 32-byte hash to Base and Solana in parallel, and waits until both are included (or Solana has failed). */
export interface Anchor {
  /** @param hash 64 hex characters. @throws Problem `upstream-failed` when Base fails. */
  write(hash: string, signal: AbortSignal): Promise<AnchorReceipt>;
}

/** A mined transaction as far as verification needs it. */
export interface EvmTransaction {
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex | null;
  readonly input: Hex;
  readonly status: "success" | "reverted";
  readonly blockNumber: bigint;
  /** Unix seconds. */
  readonly blockTime: number;
}

/** Reads from the Base chain. */
export interface Evm {
  /** The mined transaction, or undefined when the chain does not know it (or has not mined it yet). @throws Problem `upstream-failed`. */
  transaction(hash: Hex, signal: AbortSignal): Promise<EvmTransaction | undefined>;
  /** Whether `signature` over the EIP-191 text was made by the account, ERC-1271 and ERC-6492 smart accounts included. */
  verifyMessage(address: Hex, text: string, signature: Hex, signal: AbortSignal): Promise<boolean>;
}

/** What plugins may know of the site. */
export interface SiteInfo {
  /** `<service_name>`: the first part of every signature domain. */
  readonly name: string;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}
