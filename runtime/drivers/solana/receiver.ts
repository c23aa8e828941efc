import type { PublicKey } from "@solana/web3.js";
import type { SolanaClient } from "./client.ts";
import { checkMint, type MintFacts } from "./mint.ts";
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from "./programs.ts";

export interface SolanaReceiver extends MintFacts {
  readonly client: SolanaClient;
  /** The receiving address, base58. */
  readonly payTo: string;
  /** The token's short name, for the message. */
  readonly symbol: string;
}

/**
 * Why nothing can be paid to a receiver: a sentence, or undefined. A transfer to an address without a token account fails,
 * and with other decimals every price would be another one. @throws Problem `unavailable` when the node is of another
 * chain, `upstream-failed` when it cannot be asked.
 */
export async function findReceiverObstacle(receiver: SolanaReceiver, signal: AbortSignal): Promise<string | undefined> {
  const { client, payTo, symbol } = receiver;
  const [difference, isThere] = await Promise.all([checkMint(client, receiver, signal), hasAccount(receiver, signal)]);
  if (difference !== undefined || isThere) return difference;
  return `${payTo} has no account for ${symbol} on Solana; send it any amount of ${symbol} once`;
}

/** The associated token account of an owner. @param owner base58 @param mint base58 */
export async function tokenAccountOf(owner: string, mint: string): Promise<PublicKey> {
  const { PublicKey } = await import("@solana/web3.js");
  const [token, program] = [TOKEN_PROGRAM, ASSOCIATED_TOKEN_PROGRAM].map((key) => new PublicKey(key));
  const seeds = [new PublicKey(owner), token as PublicKey, new PublicKey(mint)].map((key) => key.toBuffer());
  const [account] = PublicKey.findProgramAddressSync(seeds, program as PublicKey);
  return account;
}

/** Whether the associated token account exists. */
async function hasAccount({ client, payTo, mint }: SolanaReceiver, signal: AbortSignal): Promise<boolean> {
  const account = await tokenAccountOf(payTo, mint);
  return (await client.ask((connection) => connection.getAccountInfo(account), signal)) !== null;
}
