import { isWallet } from "./sol-keys.ts";

/** Whom a .sol name means, or the sentence that says why it means nobody. */
export type Target = { readonly wallet: string } | { readonly refusal: string };

/** Finds the holder of a token's only unit. */
export type FindHolder = (mint: string) => Promise<string | undefined>;

const HOLDERLESS: Target = { refusal: "It is a token, and nobody holds that token alone." };
const PROGRAMS_OWN: Target = { refusal: "It belongs to a program's address, from which money may never come back." };

/** The holder of a name that was made a token. */
export async function toTokenHolder(mint: string, findHolder: FindHolder): Promise<Target> {
  const holder = await findHolder(mint);
  return holder === undefined ? HOLDERLESS : toWallet(holder);
}

/** An owner, if somebody can spend what it is sent. */
export async function toWallet(key: string): Promise<Target> {
  return (await isWallet(key)) ? { wallet: key } : PROGRAMS_OWN;
}
