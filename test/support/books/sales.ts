import { type SaleEvent, saleId } from "../../../runtime/core/books/events.ts";
import { type FeeEvent, toFee } from "../../../runtime/core/books/fees.ts";

/** The time of a sale: a whole hour. */
export const T = Date.UTC(2026, 4, 1, 12);
let made = 0;

/** A sale that differs from every other one. */
export function toSale(change: Partial<SaleEvent> = {}): SaleEvent {
  made += 1;
  return {
    kind: "sale",
    id: saleId(`eip155:8453:payment-${made}`),
    at: T,
    service: "roll",
    door: "rest",
    rail: "base",
    network: "eip155:8453",
    asset: "0xUSDC",
    decimals: 6,
    amount: "1000",
    usd: "0.001",
    payer: "0xaa",
    receiver: "0xee",
    transaction: `0x${made.toString(16).padStart(64, "0")}`,
    requestId: `request-${made}`,
    job: null,
    set: "set-1",
    times: { begun: T - 20, verified: T - 10 },
    ...change,
  };
}

/** What a transaction has cost. */
export const toSpent = (transaction: string, change: Partial<Parameters<typeof toFee>[0]> = {}): FeeEvent =>
  toFee({ ...SPENT, transaction, ...change });

const SPENT = { network: "eip155:137", at: T, cost: 21_000n, purpose: "settlement", isReverted: false } as const;
