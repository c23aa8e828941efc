import { type SaleEvent, saleId, toBookPayer } from "../books/events.ts";
import { toDecimal } from "../set/price.ts";
import { readEip3009 } from "../x402/eip3009.ts";
import type { Rail } from "../x402/rails.ts";
import type { PaymentRecord } from "./record.ts";

/** The sale that a settled payment is; undefined while it is not settled, or on a rail that this process does not have. */
export type SaleOf = (key: string, record: PaymentRecord) => SaleEvent | undefined;

/**
 * Makes sales of settled payments. Only a process that has the rail can have settled one; it has entered the sale then.
 */
export function createSaleOf(rails: readonly Pick<Rail, "manifest">[]): SaleOf {
  const byNetwork = new Map(rails.map(({ manifest }) => [manifest.network, manifest]));

  return (key, record) => {
    const { state, service, payment, receipt, settledAt, sold, job, owed } = record;
    const { network, asset, amount, payTo } = payment.accepted;
    const rail = byNetwork.get(network);
    if (state !== "settled" || settledAt === undefined || !rail) return undefined;
    const { id, decimals, currency } = rail;
    const isDollar = currency === "usd" || !sold;
    const { begun, ...steps } = sold?.course ?? {};
    return {
      kind: "sale",
      id: saleId(key),
      at: settledAt,
      service,
      door: sold?.door ?? "rest",
      rail: id,
      network,
      asset,
      decimals,
      amount,
      usd: isDollar ? toDecimal(BigInt(amount), decimals) : sold.price,
      payer: payerIn(record),
      receiver: payTo,
      transaction: receipt?.transaction ?? "",
      requestId: sold?.requestId ?? null,
      job: job ?? owed?.id ?? null,
      set: sold?.set ?? null,
      times: begun === undefined ? null : { begun, ...steps },
    };
  };
}

/** Whose signature has moved the money is the payer, whatever a facilitator writes. */
function payerIn({ payment, payer, receipt }: PaymentRecord): string | null {
  const found = readEip3009(payment.payload)?.authorization.from ?? payer ?? receipt?.payer ?? null;
  return toBookPayer(payment.accepted.network, found);
}
