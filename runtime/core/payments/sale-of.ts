import { type SaleEvent, saleId, toBookPayer } from "../books/events.ts";
import { toDecimal } from "../set/price.ts";
import { signerOf } from "../x402/eip3009.ts";
import { type Rail, railOf } from "../x402/rails.ts";
import type { PaymentRecord, SoldAs } from "./record.ts";

/** The sale that a settled payment is; undefined while it is not settled, or where its rail is unknown. */
export type SaleOf = (key: string, record: PaymentRecord) => SaleEvent | undefined;

/** Makes sales of settled payments. @param rails for records of a version that did not say how they were sold */
export function createSaleOf(rails: readonly Rail[]): SaleOf {
  return (key, record) => {
    const { state, service, payment, receipt, settledAt, sold = soldOn(record), job, owed } = record;
    const { network, asset, amount, payTo } = payment.accepted;
    if (state !== "settled" || settledAt === undefined || !sold) return undefined;
    const { begun, ...steps } = sold.course ?? {};
    return {
      kind: "sale",
      id: saleId(key),
      at: settledAt,
      service,
      door: sold.door,
      rail: sold.rail,
      network,
      asset,
      decimals: sold.decimals,
      amount,
      usd: sold.usd,
      payer: payerIn(record),
      receiver: payTo,
      transaction: receipt?.transaction ?? "",
      requestId: sold.requestId || null,
      job: job ?? owed?.id ?? null,
      set: sold.set ?? null,
      times: begun === undefined ? null : { begun, ...steps },
    };
  };

  function soldOn({ payment }: PaymentRecord): SoldAs | undefined {
    const rail = railOf(rails, payment.accepted)?.manifest;
    if (!rail) return undefined;
    const { id, decimals } = rail;
    return {
      door: "rest",
      requestId: "",
      rail: id,
      decimals,
      usd: toDecimal(BigInt(payment.accepted.amount), decimals),
    };
  }
}

/** Whose signature has moved the money is the payer, whatever a facilitator writes. */
function payerIn({ payment, payer, receipt }: PaymentRecord): string | null {
  const found = signerOf(payment.payload) ?? payer ?? receipt?.payer ?? null;
  return toBookPayer(payment.accepted.network, found);
}
