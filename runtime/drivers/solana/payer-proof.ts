import { base58 } from "@scure/base";
import type { ProvePayer } from "../../core/x402/rails.ts";
import { parseSolanaTransaction } from "../../core/x402/solana-transaction.ts";
import { isEd25519 } from "../ed25519.ts";
import { type SolanaReceiver, tokenAccountOf } from "./receiver.ts";

const CALL_MS = 5000;

/**
 * Verifies payers by the signature of the transfer's authority, in a transaction that pays this receiver and whose
 * blockhash is still valid: older ones could be copied from the chain.
 */
export function createSolanaPayerProof({
  client,
  payTo,
  mint,
}: Pick<SolanaReceiver, "client" | "payTo" | "mint">): ProvePayer {
  return async ({ transaction }) => {
    const parsed = typeof transaction === "string" ? parseSolanaTransaction(transaction) : undefined;
    if (!parsed?.transfer?.destination) return undefined;
    const { payer, signature, destination } = parsed.transfer;
    if (!isEd25519(base58.decode(payer), parsed.message, signature)) return undefined;
    if (!(await tokenAccountOf(payTo, mint)).toBuffer().equals(destination)) return undefined;
    const blockhash = base58.encode(parsed.blockhash);
    const signal = AbortSignal.timeout(CALL_MS);
    return (await client.ask((node) => node.isBlockhashValid(blockhash), signal)).value ? "key" : undefined;
  };
}
