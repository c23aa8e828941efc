import { readKey, type SolanaAccount } from "./accounts.ts";
import { SOL_CLASS, type SolKeys } from "./keys.ts";
import { type FindHolder, type SolTarget, toTokenHolder, toWallet } from "./target.ts";

/** A record's layout: discriminator, class, owner kind, owner, frozen, expiry in Unix seconds (0: never), … */
const RECORD = 2;
const CLASS_AT = 1;
const OWNER_KIND_AT = 33;
const OWNER_AT = 34;
const EXPIRY_AT = 67;
const HEADER_BYTES = 75;
const OWNED_BY = { wallet: 0, token: 1 } as const;

const MALFORMED: SolTarget = { refusal: "Its entry in the Solana Record Service is of an unknown form." };

/** The name's holder according to the Solana Record Service. @param nowMs milliseconds since the Unix epoch. */
export async function toRegistrant(
  { data }: SolanaAccount,
  { registrationMint }: SolKeys,
  { findHolder, nowMs }: { readonly findHolder: FindHolder; readonly nowMs: number },
): Promise<SolTarget> {
  if (data.length < HEADER_BYTES || data[0] !== RECORD || readKey(data, CLASS_AT) !== SOL_CLASS) return MALFORMED;
  const expiry = data.readBigInt64LE(EXPIRY_AT);
  if (expiry !== 0n && expiry * 1000n <= BigInt(nowMs)) return { refusal: "Its registration has expired." };
  const owner = readKey(data, OWNER_AT);
  if (data[OWNER_KIND_AT] === OWNED_BY.wallet) return toWallet(owner);
  if (data[OWNER_KIND_AT] === OWNED_BY.token && owner === registrationMint) return toTokenHolder(owner, findHolder);
  return MALFORMED;
}
