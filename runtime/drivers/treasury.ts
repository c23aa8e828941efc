import { sign } from "node:crypto";
import type { LocalAccount } from "viem";
import type { Treasury } from "../api/capabilities.ts";
import { parseEvmKey, parseSolanaKey } from "./treasury-keys.ts";

/** The treasury's other faces, for the drivers that send transactions. No private key can be reached through them. */
export interface TreasuryAccounts {
  /** viem's local account: it signs, and does not show its key. */
  evmAccount(): Promise<LocalAccount>;
  /** Base58. */
  readonly solanaAddress: string;
  /** The 64-byte Ed25519 signature over a Solana message. */
  signSolana(message: Uint8Array): Uint8Array;
}

export interface TreasuryKeys {
  /** As `parseEvmKey` takes it. */
  readonly evmKey: string;
  /** As `parseSolanaKey` takes it. */
  readonly solanaKey: string;
}

/** Checks both keys at once, and loads viem on the first use. @throws RangeError that says what is wrong, without the key. */
export function createTreasury(keys: TreasuryKeys): Treasury & TreasuryAccounts {
  const evmKey = parseEvmKey(keys.evmKey);
  const solana = parseSolanaKey(keys.solanaKey);
  let account: Promise<LocalAccount> | undefined;

  const evmAccount = (): Promise<LocalAccount> => {
    account ??= import("viem/accounts").then(({ privateKeyToAccount }) => privateKeyToAccount(evmKey));
    return account;
  };
  return {
    evmAccount,
    evmAddress: async () => (await evmAccount()).address,
    signMessage: async (message) => (await evmAccount()).signMessage({ message }),
    solanaAddress: solana.address,
    signSolana: (message) => sign(null, message, solana.privateKey),
  };
}
