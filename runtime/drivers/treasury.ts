import { sign } from "node:crypto";
import type { LocalAccount } from "viem";
import type { Treasury } from "../api/capabilities.ts";
import { Problem } from "../api/problem.ts";
import { once } from "../core/once.ts";
import { parseEvmKey, parseSolanaKey, type SolanaKey } from "./treasury-keys.ts";

/** The treasury's accounts, for drivers that send transactions. They never expose a private key. */
export interface TreasuryAccounts {
  /** viem's local account, which signs without exposing its key. */
  evmAccount(): Promise<LocalAccount>;
  /** Base58. */
  readonly solanaAddress: string;
  /** The 64-byte Ed25519 signature over a Solana message. */
  signSolana(message: Uint8Array): Uint8Array;
}

/** Without one of its keys, the treasury rejects everything that needs this key, with Problem `unavailable`. */
export interface TreasuryKeys {
  /** In a form that `parseEvmKey` accepts. */
  readonly evmKey: string | undefined;
  /** In a form that `parseSolanaKey` accepts. */
  readonly solanaKey: string | undefined;
}

/** Checks both keys immediately, and loads viem on first use. @throws RangeError with the reason, without the key. */
export function createTreasury(keys: TreasuryKeys): Treasury & TreasuryAccounts {
  const evmKey = keys.evmKey === undefined ? undefined : parseEvmKey(keys.evmKey);
  const solanaKey = keys.solanaKey === undefined ? undefined : parseSolanaKey(keys.solanaKey);
  const evmAccount = once(async (): Promise<LocalAccount> => {
    if (evmKey === undefined) throw missingKey("EVM");
    const { privateKeyToAccount } = await import("viem/accounts");
    return privateKeyToAccount(evmKey);
  });
  const solana = (): SolanaKey => {
    if (solanaKey === undefined) throw missingKey("Solana");
    return solanaKey;
  };
  return {
    evmAccount,
    evmAddress: async () => (await evmAccount()).address,
    signMessage: async (message) => (await evmAccount()).signMessage({ message }),
    get solanaAddress() {
      return solana().address;
    },
    signSolana: (message) => sign(null, message, solana().privateKey),
  };
}

/** The treasury's addresses, for the keys that are set. */
export async function treasuryAddresses(keys: TreasuryKeys): Promise<readonly string[]> {
  const treasury = createTreasury(keys);
  return [...(keys.evmKey ? [await treasury.evmAddress()] : []), ...(keys.solanaKey ? [treasury.solanaAddress] : [])];
}

/** @param chain `EVM` or `Solana`. */
export const missingKey = (chain: string): Problem => new Problem("unavailable", `The treasury has no ${chain} key`);
