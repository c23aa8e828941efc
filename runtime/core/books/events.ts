import { sha256 } from "../digest.ts";

/** The surfaces of calls. */
export const DOORS = ["rest", "mcp", "a2a"] as const;
export type Door = (typeof DOORS)[number];

/**
 * When the steps of a sold call were done: Unix milliseconds. Steps that did not happen before the sale are omitted.
 */
export interface SaleTimes {
  /** The call began. */
  readonly begun: number;
  /** The payment was reserved for this call. */
  readonly reserved?: number;
  readonly verified?: number;
  /** The handler was done; omitted when the money moves first. */
  readonly worked?: number;
  /** The result, the job or the owed work was recorded. */
  readonly recorded?: number;
}

/** One settled payment. */
export interface SaleEvent {
  readonly kind: "sale";
  /** Derived from the payment's key, so that one payment is one sale. */
  readonly id: string;
  /** When the settlement became known: Unix milliseconds. */
  readonly at: number;
  /** The service's id. */
  readonly service: string;
  readonly door: Door;
  /** The rail's id. */
  readonly rail: string;
  /** CAIP-2. */
  readonly network: string;
  readonly asset: string;
  readonly decimals: number;
  /** Atomic units, decimal text. */
  readonly amount: string;
  /** US dollars, decimal text. */
  readonly usd: string;
  /** Null when the payer is unknown. EVM addresses are in lower case. */
  readonly payer: string | null;
  /** The receiving address in the offer. */
  readonly receiver: string;
  readonly transaction: string;
  readonly requestId: string | null;
  /** The id of the job, or of work that was paid for before it was done; the refund refers to it. */
  readonly job: string | null;
  /** The digest of the set that sold it. */
  readonly set: string | null;
  readonly times: SaleTimes | null;
}

/** A sale was refunded. */
export interface RefundEvent
  extends Pick<SaleEvent, "id" | "at" | "service" | "network" | "asset" | "amount" | "payer"> {
  readonly kind: "refund";
  /** The job or work of the refunded sale. */
  readonly job: string;
  /** The refund's transaction. */
  readonly transaction: string;
}

/**
 * `reversal`: the chain does not show a settlement that a facilitator has reported, or holds it no longer, and the sale
 * does not count.
 * `restoration`: the chain shows it after all, and the sale counts again.
 */
export interface ReversalEvent {
  readonly kind: "reversal" | "restoration";
  readonly id: string;
  readonly at: number;
  /** The sale's id. */
  readonly sale: string;
  /**
   * Of a restoration: the transaction that the chain shows, which may be another one than was reported. Of a reversal: the
   * one of the restoration that it takes back.
   */
  readonly transaction?: string | undefined;
}

/** An entry of the book, entered once per id and never changed or removed by another entry. */
export type BookEvent = SaleEvent | RefundEvent | ReversalEvent;

/** How often something happened within one minute. */
export interface BookTally {
  /** Minutes since the Unix epoch. */
  readonly minute: number;
  /** A service's id; empty for a request to another door that was refused before it was read. */
  readonly service: string;
  readonly door: Door;
  /** The rail's id; empty when the call named no rail. */
  readonly rail: string;
  /**
   * `challenge`, `attempt` (a call with a payment), `refused:<reason>`, `result` (of a paid call), `free` (result
   * without a payment), `failed:<problem code>`, `left` (the caller disconnected before the settlement), `gone` (the
   * caller had disconnected when the result was ready), `replay`, `early` (an earlier call with the payment was still
   * running), `job:delivered` and `job:failed` (ends of jobs), `cache:hit` and `cache:miss` (cache reads), and
   * `ms:<bound>`: calls that took at most that many milliseconds, and more than the next lower bound.
   */
  readonly what: string;
  readonly count: number;
}

/** The bounds of the latency buckets in milliseconds; the last bucket, `ms:inf`, has none. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
];

/** A payer in the form of the book: EVM addresses in lower case. */
export const toBookPayer = (network: string, payer: string | null): string | null =>
  network.startsWith("eip155:") ? (payer?.toLowerCase() ?? null) : payer;

/** Whether a line adds to the revenue or is subtracted. */
export const SIGNS: Readonly<Record<BookEvent["kind"], 1 | -1>> = { sale: 1, refund: -1, reversal: -1, restoration: 1 };

const toId = (kind: string, key: string): string => `${kind}_${sha256(key).slice(0, 20)}`;

/** The id of a sale. @param key the payment's key: `<network>:<authorization>`. */
export const saleId = (key: string): string => toId("sale", key);

/** The id of a refund. @param job the refunded job or work. */
export const refundId = (job: string): string => toId("refund", job);

/** How a sale was corrected so far. */
export interface Corrections {
  /** How often. After an odd number, the sale does not count. */
  readonly times: number;
  /** The transaction of the last restoration. */
  readonly transaction?: string | undefined;
}

/** Where the corrections of a sale are kept. @param payment the payment's key */
export const correctionsKey = (payment: string): string => `doubted:${payment}`;

/** @param mark what is kept; older versions kept whether the sale is doubted, and corrected it twice at most */
export function toCorrections(mark: unknown): Corrections {
  if (typeof mark === "boolean") return { times: mark ? 1 : 2 };
  return (mark as Corrections | undefined) ?? { times: 0 };
}

/** The id of a reversal or restoration of a sale. @param time of all its corrections, from 1 */
export const reversalId = (kind: ReversalEvent["kind"], sale: string, time = 1): string =>
  time > 2 ? toId(kind, `${sale} ${time}`) : `${kind}_${sale.slice(sale.indexOf("_") + 1)}`;
