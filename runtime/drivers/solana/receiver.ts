import { base58 } from "@scure/base";
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
 * Why nothing can be paid to a receiver: a sentence, or undefined. Transfers fail without a token account, and to a frozen
 * one. With another owner somebody else would be paid; with other decimals every price would be another one. Where a token
 * account is named instead of its owner, as explorers show it, what it was paid would belong to an account without a key.
 * @throws Problem `unavailable` when the node is of another chain, `upstream-failed` when it cannot be asked.
 */
export async function findReceiverObstacle(receiver: SolanaReceiver, signal: AbortSignal): Promise<string | undefined> {
  const { client, payTo, symbol } = receiver;
  const { PublicKey } = await import("@solana/web3.js");
  const [difference, named, account] = await Promise.all([
    checkMint(client, receiver, signal),
    readTokenAccount(client, new PublicKey(payTo), signal),
    tokenAccountOf(payTo, receiver.mint).then((address) => readTokenAccount(client, address, signal)),
  ]);
  if (difference !== undefined) return difference;
  if (named && named.owner !== payTo)
    return `${payTo} is a token account of ${named.owner}: name the owner, since nobody could take what is paid to this`;
  if (!account) return `${payTo} has no account for ${symbol} on Solana; send it any amount of ${symbol} once`;
  if (account.owner !== payTo)
    return `The account of ${payTo} for ${symbol} on Solana was given to ${account.owner}, who would get what is paid`;
  return account.isFrozen ? `The account of ${payTo} for ${symbol} on Solana is frozen` : undefined;
}

/** The associated token account of an owner. @param owner base58 @param mint base58 */
export async function tokenAccountOf(owner: string, mint: string): Promise<PublicKey> {
  const { PublicKey } = await import("@solana/web3.js");
  const [token, program] = [TOKEN_PROGRAM, ASSOCIATED_TOKEN_PROGRAM].map((key) => new PublicKey(key));
  const seeds = [new PublicKey(owner), token as PublicKey, new PublicKey(mint)].map((key) => key.toBuffer());
  const [account] = PublicKey.findProgramAddressSync(seeds, program as PublicKey);
  return account;
}

/** Mints and multisigs of SPL Token have other sizes; a multisig may be a wallet. */
const ACCOUNT_BYTES = 165;
/** Offsets in an account of SPL Token (`Account`). */
const OWNER_AT = 32;
const AMOUNT_AT = 64;
/** A delegate and what it may spend: optional, said by a number of four bytes before the key. */
const DELEGATE_AT = 72;
const STATE_AT = 108;
const ALLOWANCE_AT = 121;
const FROZEN = 2;

interface TokenAccount {
  readonly owner: string;
  readonly amount: bigint;
  readonly isFrozen: boolean;
  /** What a wallet may spend of the amount: all of it its owner, and a delegate what the owner has approved. */
  readonly spendableBy: (signer: string) => bigint;
}

/**
 * A token account; undefined when there is none, though its address may have been sent SOL. An associated one keeps its
 * address when its owner changes.
 */
export async function readTokenAccount(
  client: SolanaClient,
  address: PublicKey,
  signal: AbortSignal,
): Promise<TokenAccount | undefined> {
  const account = await client.ask((connection) => connection.getAccountInfo(address), signal);
  if (account?.owner.toBase58() !== TOKEN_PROGRAM || account.data.length !== ACCOUNT_BYTES) return undefined;
  const { data } = account;
  const owner = base58.encode(data.subarray(OWNER_AT, AMOUNT_AT));
  const amount = data.readBigUInt64LE(AMOUNT_AT);
  const allowanceOf = (signer: string): bigint => {
    const delegate = base58.encode(data.subarray(DELEGATE_AT + 4, STATE_AT));
    return data.readUInt32LE(DELEGATE_AT) === 1 && delegate === signer ? data.readBigUInt64LE(ALLOWANCE_AT) : 0n;
  };
  const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
  const spendableBy = (signer: string): bigint => (signer === owner ? amount : least(amount, allowanceOf(signer)));
  return { owner, amount, isFrozen: data[STATE_AT] === FROZEN, spendableBy };
}
