import type { BookLine } from "../../core/books/books.ts";
import type { BookFee } from "../../core/books/fees.ts";

/** One line of `payphone sales --json`. Amounts have no sign: `kind` tells whether they add or subtract. */
export function toSaleJson(line: BookLine, own: readonly string[], fee?: BookFee): string {
  const { id, kind, of, at, service, door, rail, network, asset, decimals, amount, usd, payer, receiver } = line;
  return JSON.stringify({
    id,
    kind,
    ...(kind !== "sale" && { sale_id: of }),
    at: new Date(at).toISOString(),
    service,
    door,
    rail,
    network,
    asset,
    amount,
    decimals,
    usd,
    payer,
    receiver,
    transaction: line.transaction,
    request_id: line.requestId,
    job_id: line.job,
    set: line.set,
    ...(isOwn(line, own) && { own: true }),
    ...(fee && { fee: toFeeJson(fee) }),
  });
}

/** The fee that the treasury paid for a transaction, in the chain's native coin: `amount` is atomic, as text. */
export const toFeeJson = ({ amount, decimals, symbol }: BookFee): object => ({ amount, decimals, currency: symbol });

/** Whether the payer is one of the seller's own wallets. Such a payment is no revenue. */
export const isOwn = ({ payer }: Pick<BookLine, "payer">, own: readonly string[]): boolean =>
  payer !== null && own.includes(payer);
