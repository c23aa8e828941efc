import { isWallet } from "./keys.ts";

/** The wallet that a .sol name leads to, or a sentence why there is none. */
export type SolTarget = { readonly wallet: string } | { readonly refusal: string };

/** Finds the holder of an NFT. */
export type FindHolder = (mint: string) => Promise<string | undefined>;

const HOLDERLESS: SolTarget = { refusal: "It is a token, and nobody holds that token alone." };
const PROGRAMS_OWN: SolTarget = { refusal: "It belongs to a program's address, from which money may never come back." };

/** The holder of a name's NFT. */
export async function toTokenHolder(mint: string, findHolder: FindHolder): Promise<SolTarget> {
  const holder = await findHolder(mint);
  return holder === undefined ? HOLDERLESS : toWallet(holder);
}

/** The owner, unless it is a program's address, where money would be lost. */
export async function toWallet(key: string): Promise<SolTarget> {
  return (await isWallet(key)) ? { wallet: key } : PROGRAMS_OWN;
}
