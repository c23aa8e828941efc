import { PublicKey } from "@solana/web3.js";
import type { Encoding } from "./encoding.ts";

/** The configuration object of Solana's methods, as far as this chain supports it. */
export interface SvmOptions {
  readonly encoding?: Encoding;
  readonly maxSupportedTransactionVersion?: number;
  readonly skipPreflight?: boolean;
  readonly sigVerify?: boolean;
  readonly replaceRecentBlockhash?: boolean;
  readonly innerInstructions?: boolean;
  readonly before?: string;
  readonly until?: string;
  readonly limit?: number;
}

/** Reads the configuration object; a string stands for the encoding alone. */
export const toOptions = (value: unknown): SvmOptions =>
  typeof value === "string" ? { encoding: value as Encoding } : ((value ?? {}) as SvmOptions);

/** Reads an address. @throws Error when it is malformed. */
export const toAddress = (value: unknown): string => new PublicKey(String(value)).toBase58();
