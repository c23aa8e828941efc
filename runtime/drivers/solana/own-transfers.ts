import type { VersionedTransactionResponse } from "@solana/web3.js";
import { TRANSFER_CHECKED, TRANSFER_CHECKED_BYTES } from "../../core/x402/solana-transaction.ts";
import { TOKEN_PROGRAM } from "./programs.ts";

/**
 * What an owner has transferred to itself, in atomic units: a seller who buys with the wallet that is paid. The balance
 * does not change by it.
 */
export function sumOwnTransfers(
  { meta, transaction: { message } }: VersionedTransactionResponse,
  { mint, owner }: { readonly mint: string; readonly owner: string },
): bigint {
  const isOwn = (index: number | undefined): boolean =>
    (meta?.preTokenBalances ?? []).some(
      (balance) => balance.accountIndex === index && balance.mint === mint && balance.owner === owner,
    );
  const keyOf = (index: number | undefined): string | undefined => message.staticAccountKeys[index ?? -1]?.toBase58();
  let sum = 0n;
  for (const { programIdIndex, accountKeyIndexes, data } of message.compiledInstructions) {
    const [source, , destination, authority] = accountKeyIndexes;
    const isTransfer = keyOf(programIdIndex) === TOKEN_PROGRAM && data[0] === TRANSFER_CHECKED;
    if (!isTransfer || data.length < TRANSFER_CHECKED_BYTES || keyOf(authority) !== owner) continue;
    if (isOwn(source) && isOwn(destination)) sum += Buffer.from(data).readBigUInt64LE(1);
  }
  return sum;
}
