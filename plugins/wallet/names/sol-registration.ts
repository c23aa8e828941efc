import { type Account, readKey } from "./sol-accounts.ts";
import { SOL_CLASS, type SolKeys } from "./sol-keys.ts";
import { type FindHolder, type Target, toTokenHolder, toWallet } from "./sol-target.ts";

/** A record: discriminator, class, kind of owner, owner, frozen, expiry in Unix seconds (0: never), … */
const RECORD = 2;
const CLASS_AT = 1;
const OWNER_KIND_AT = 33;
const OWNER_AT = 34;
const EXPIRY_AT = 67;
const HEADER_BYTES = 75;
const OWNED_BY = { wallet: 0, token: 1 } as const;

const MALFORMED: Target = { refusal: "Its entry in the Solana Record Service is of an unknown form." };

/** Who holds a name by the Solana Record Service. @param nowMs milliseconds since the Unix epoch. */
export async function toRegistrant(
  { data }: Account,
  { registrationMint }: SolKeys,
  { findHolder, nowMs }: { readonly findHolder: FindHolder; readonly nowMs: number },
): Promise<Target> {
  if (data.length < HEADER_BYTES || data[0] !== RECORD || readKey(data, CLASS_AT) !== SOL_CLASS) return MALFORMED;
  const expiry = data.readBigInt64LE(EXPIRY_AT);
  if (expiry !== 0n && expiry * 1000n <= BigInt(nowMs)) return { refusal: "Its registration has expired." };
  const owner = readKey(data, OWNER_AT);
  if (data[OWNER_KIND_AT] === OWNED_BY.wallet) return toWallet(owner);
  if (data[OWNER_KIND_AT] === OWNED_BY.token && owner === registrationMint) return toTokenHolder(owner, findHolder);
  return MALFORMED;
}
