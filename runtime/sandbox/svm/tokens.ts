import { base58 } from "@scure/base";
import { PublicKey } from "@solana/web3.js";
import { ASSOCIATED_TOKEN_PROGRAM, TOKEN_PROGRAM } from "../../drivers/solana/programs.ts";
import type { SvmAccount } from "./bank.ts";

/** The address of the associated token account of an owner. */
export function toTokenAddress(mint: string, owner: string): string {
  const seeds = [owner, TOKEN_PROGRAM, mint].map((key) => new PublicKey(key).toBytes());
  return PublicKey.findProgramAddressSync(seeds, new PublicKey(ASSOCIATED_TOKEN_PROGRAM))[0].toBase58();
}

/** The data of an initialized mint without a freeze authority. */
export function toMintData(authority: string, decimals: number): Buffer {
  const data = Buffer.alloc(MINT_BYTES);
  data.writeUInt32LE(1, 0);
  data.set(new PublicKey(authority).toBytes(), 4);
  data.writeBigUInt64LE(10n ** 18n, SUPPLY_AT);
  data[DECIMALS_AT] = decimals;
  data[DECIMALS_AT + 1] = 1;
  return data;
}

/** The data of an initialized token account. */
export function toTokenData(mint: string, owner: string, amount: bigint): Buffer {
  const data = Buffer.alloc(TOKEN_BYTES);
  data.set(new PublicKey(mint).toBytes(), 0);
  data.set(new PublicKey(owner).toBytes(), OWNER_AT);
  data.writeBigUInt64LE(amount, AMOUNT_AT);
  data[STATE_AT] = 1;
  return data;
}

/** Decodes a token account; undefined when the account is something else. */
export function readToken(
  account: SvmAccount | undefined,
): { readonly mint: string; readonly owner: string; readonly amount: bigint } | undefined {
  if (account?.owner !== TOKEN_PROGRAM || account.data.length !== TOKEN_BYTES) return undefined;
  const { data } = account;
  return {
    mint: base58.encode(data.subarray(0, OWNER_AT)),
    owner: base58.encode(data.subarray(OWNER_AT, AMOUNT_AT)),
    amount: data.readBigUInt64LE(AMOUNT_AT),
  };
}

/** Decodes a mint; undefined when the account is something else. */
export function readMint(
  account: SvmAccount | undefined,
): { readonly supply: bigint; readonly decimals: number } | undefined {
  if (account?.owner !== TOKEN_PROGRAM || account.data.length !== MINT_BYTES) return undefined;
  return { supply: account.data.readBigUInt64LE(SUPPLY_AT), decimals: account.data[DECIMALS_AT] ?? 0 };
}

/** Layouts of the SPL Token program's accounts. */
const MINT_BYTES = 82;
const SUPPLY_AT = 36;
const DECIMALS_AT = 44;
const TOKEN_BYTES = 165;
const OWNER_AT = 32;
const AMOUNT_AT = 64;
const STATE_AT = 108;
