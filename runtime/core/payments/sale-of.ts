import { type SaleEvent, saleId, toBookPayer } from "../books/events.ts";
import { toDecimal } from "../set/price.ts";
import { signerOf } from "../x402/eip3009.ts";
import { type Rail, railOf } from "../x402/rails.ts";
import type { PaymentRecord, SoldAs } from "./record.ts";

/** The sale of a settled payment; undefined while it is not settled, or when its rail is unknown. */
export type SaleOf = (key: string, record: PaymentRecord) => SaleEvent | undefined;

/** Makes sales from settled payments. @param rails for records of an older version, which lack the terms of the sale */
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

/** The payer is the signer, whatever the facilitator reports. */
function payerIn({ payment, payer, receipt }: PaymentRecord): string | null {
  const found = signerOf(payment.payload) ?? payer ?? receipt?.payer ?? null;
  return toBookPayer(payment.accepted.network, found);
}
