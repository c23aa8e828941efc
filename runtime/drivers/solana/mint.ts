import type { SolanaClient } from "./client.ts";
import { TOKEN_PROGRAM } from "./programs.ts";

/** The configuration of a token. */
export interface MintFacts {
  /** Base58. */
  readonly mint: string;
  readonly decimals: number;
}

/** The offset of a mint's decimals (SPL Token, `Mint`). */
const DECIMALS_AT = 44;
/** Its tokens have accounts at other addresses, and may keep a part of each transfer. */
const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

/**
 * Compares a token with its configuration: returns a sentence that names the difference, or undefined.
 * @throws Problem `upstream-failed` when the chain cannot be asked.
 */
export async function checkMint(
  client: SolanaClient,
  { mint, decimals }: MintFacts,
  signal: AbortSignal,
): Promise<string | undefined> {
  const { PublicKey } = await import("@solana/web3.js");
  const account = await client.ask((chain) => chain.getAccountInfo(new PublicKey(mint)), signal);
  const program = account?.owner.toBase58();
  if (program === TOKEN_2022) return `${mint} is a token of Token-2022, which payphone does not take`;
  if (!account || program !== TOKEN_PROGRAM) return `${mint} is no token's mint`;
  const actual = account.data[DECIMALS_AT];
  return actual === decimals ? undefined : `${mint} has ${actual} decimals, but the configuration says ${decimals}`;
}
