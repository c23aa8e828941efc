import type { Upstream } from "#plugin";
import { toJsonFields } from "../fields.ts";
import { readKey } from "../names/sol/accounts.ts";
import { askNode, toMisfit } from "../node.ts";
import { toDecimalText } from "./amounts.ts";
import { type CurrentTerms, refuseOld } from "./current.ts";

/** USDC's mint on Solana. */
export const USDC_ON_SOLANA = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
const USDC_DECIMALS = 6;
const SOL_DECIMALS = 9;
/** The offsets of a token account's owner and balance, after its mint. */
const [OWNER_AT, AMOUNT_AT] = [32, 64];
const CONFIRMED = { commitment: "confirmed" } as const;

/** The balance in SOL. @param wallet a public key in base58. @throws Problem `upstream-failed`, also by a node that is behind. */
export async function readSol(node: Upstream, wallet: string, terms: CurrentTerms): Promise<string> {
  const method = "getBalance";
  const answer = await askNode(node, [method, [wallet, CONFIRMED]], terms.signal);
  const { value } = toJsonFields(answer);
  const isExact = Number.isSafeInteger(value) && (value as number) >= 0; // JSON.parse rounds more than 2^53 lamports.
  if (!isExact) throw toMisfit(node, method);
  await refuseOld(node, answer, terms);
  return toDecimalText(BigInt(value as number), SOL_DECIMALS);
}

/** The sum of USDC in all of the wallet's token accounts. @throws as `readSol`. */
export async function readUsdcOnSolana(node: Upstream, wallet: string, terms: CurrentTerms): Promise<string> {
  const method = "getTokenAccountsByOwner";
  const options = { encoding: "base64", ...CONFIRMED };
  const answer = await askNode(node, [method, [wallet, { mint: USDC_ON_SOLANA }, options]], terms.signal);
  const { value } = toJsonFields(answer);
  if (!Array.isArray(value)) throw toMisfit(node, method);
  const amounts = value.map((found: unknown, at) => {
    const { pubkey = at, account } = toJsonFields(found);
    const { data } = toJsonFields(account);
    const bytes = Buffer.from(Array.isArray(data) ? String(data[0]) : "", "base64");
    if (bytes.length < AMOUNT_AT + 8) throw toMisfit(node, method);
    // A node that ignores a part of the question gives accounts of other tokens, or of others.
    if (readKey(bytes, 0) !== USDC_ON_SOLANA || readKey(bytes, OWNER_AT) !== wallet) throw toMisfit(node, method);
    return [pubkey, bytes.readBigUInt64LE(AMOUNT_AT)] as const;
  });
  await refuseOld(node, answer, terms);
  const byAccount = new Map(amounts); // A node may list an account twice.
  return toDecimalText(
    [...byAccount.values()].reduce((sum, amount) => sum + amount, 0n),
    USDC_DECIMALS,
  );
}

/** Whether any transaction names the wallet. */
export async function readHasHistory(node: Upstream, wallet: string, signal: AbortSignal): Promise<boolean> {
  const method = "getSignaturesForAddress";
  const signatures = await askNode(node, [method, [wallet, { limit: 1, ...CONFIRMED }]], signal);
  if (!Array.isArray(signatures)) throw toMisfit(node, method);
  return signatures.length > 0;
}
