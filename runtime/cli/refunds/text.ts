/** What `payphone refunds` prints. */

import { railOfToken } from "../../core/rails/tokens.ts";
import type { OpenRefund } from "../../core/refunds/records.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { toDecimal } from "../../core/set/price.ts";
import { toColumns } from "../columns.ts";
import { printable } from "../printable.ts";

/** One open refund; `--json` prints a list of these. */
export interface RefundRow {
  readonly job: string;
  readonly service: string;
  /** Decimal text of whole tokens. */
  readonly amount: string;
  readonly symbol: string;
  /** CAIP-2. */
  readonly network: string;
  readonly payer: string | null;
  /** The transaction of the payment to refund. */
  readonly payment_tx: string;
  /** ISO 8601: when the job failed. */
  readonly since: string;
  readonly state: OpenRefund["state"];
  readonly reason: string | null;
}

/** One row of the list. The amount is in atomic units when no rail of the site has its token. */
export function toRow({ id: job, service, payment, openedAt, state, reason }: OpenRefund, rails: Rails): RefundRow {
  const { network, asset, payer, transaction } = payment;
  const rail = railOfToken(rails, payment);
  const amount = rail ? toDecimal(BigInt(payment.amount), rail.decimals) : payment.amount;
  const symbol = rail?.symbol ?? `atomic units of ${asset}`;
  const since = new Date(openedAt).toISOString();
  return { job, service, amount, symbol, network, payer, payment_tx: transaction, since, state, reason };
}

type Rails = readonly RailManifest[];

/** A heading line, and one line for each refund. */
export function toRefundTable(rows: readonly RefundRow[]): string {
  const lines = [
    ["job", "service", "amount", "network", "payer", "since", "state", "reason"],
    ...rows.map(({ job, service, amount, symbol, network, payer, since, state, reason }) =>
      [job, service, `${amount} ${symbol}`, network, payer ?? "-", since, state, reason ?? "-"].map(printable),
    ),
  ];
  return toColumns(lines).join("\n");
}
