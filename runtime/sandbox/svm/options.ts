import { PublicKey } from "@solana/web3.js";
import type { Encoding } from "./encoding.ts";

/** The configuration object that most of Solana's methods take last, as far as this chain minds it. */
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

/** Reads the configuration object; some methods also take the encoding alone. */
export const toOptions = (value: unknown): SvmOptions =>
  typeof value === "string" ? { encoding: value as Encoding } : ((value ?? {}) as SvmOptions);

/** Reads an address. @throws Error when it is none. */
export const toAddress = (value: unknown): string => new PublicKey(String(value)).toBase58();
