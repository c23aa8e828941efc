import type { PublicKey } from "@solana/web3.js";
import { Problem } from "../../api/problem.ts";
import type { Facilitator } from "../../core/x402/x402.ts";
import type { SolanaClient } from "./client.ts";

export interface SolanaReceiver {
  readonly client: SolanaClient;
  /** The receiving address, base58. */
  readonly payTo: string;
  /** The token's mint, base58. */
  readonly mint: string;
  /** The token's short name, for the message. */
  readonly symbol: string;
}

const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const ASSOCIATED_TOKEN_PROGRAM = "ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL";
/** Less than the time a facilitator has to answer: a silent node must not take the rail down. */
const CHECK_MS = 1500;

/**
 * A facilitator that is up only when payments can arrive: a transfer to an address without a token account fails, and
 * so would every payment. `supported` throws Problem `unavailable` until the account exists.
 */
export function withReceiver(facilitator: Facilitator, receiver: SolanaReceiver): Facilitator {
  let isThere = false;
  return {
    ...facilitator,
    async supported(signal) {
      const found = isThere || (await hasAccount(receiver).catch(() => undefined)); // Unknown counts as there.
      isThere = found === true;
      if (found !== false) return facilitator.supported(signal);
      const { payTo, symbol } = receiver;
      const what = `${payTo} has no account for ${symbol} on Solana; send it any amount of ${symbol} once`;
      throw new Problem("unavailable", what);
    },
  };
}

/** The associated token account of an owner (SPL Associated Token Account program). @param owner base58 @param mint base58 */
export async function tokenAccountOf(owner: string, mint: string): Promise<PublicKey> {
  const { PublicKey } = await import("@solana/web3.js");
  const [token, program] = [TOKEN_PROGRAM, ASSOCIATED_TOKEN_PROGRAM].map((key) => new PublicKey(key));
  const seeds = [new PublicKey(owner), token as PublicKey, new PublicKey(mint)].map((key) => key.toBuffer());
  const [account] = PublicKey.findProgramAddressSync(seeds, program as PublicKey);
  return account;
}

/** Whether the associated token account exists (SPL Associated Token Account program). */
async function hasAccount({ client, payTo, mint }: SolanaReceiver): Promise<boolean> {
  const account = await tokenAccountOf(payTo, mint);
  return (await client.ask((connection) => connection.getAccountInfo(account), AbortSignal.timeout(CHECK_MS))) !== null;
}
