import type { OwnerOf } from "../../core/x402/rails.ts";
import { parseSolanaTransaction } from "../../core/x402/solana-transaction.ts";
import type { SolanaClient } from "./client.ts";
import { readTokenAccount } from "./receiver.ts";

const CALL_MS = 5000;

/** Reads who owns the token account that pays: its delegate may have signed the transfer. */
export function createSolanaOwnerOf(client: SolanaClient): OwnerOf {
  return async ({ transaction }) => {
    const source = typeof transaction === "string" ? parseSolanaTransaction(transaction)?.source : undefined;
    if (!source) return undefined;
    const { PublicKey } = await import("@solana/web3.js");
    return (await readTokenAccount(client, new PublicKey(source), AbortSignal.timeout(CALL_MS)))?.owner;
  };
}
