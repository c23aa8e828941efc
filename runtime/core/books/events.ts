import { sha256 } from "../digest.ts";

/** The way by which a call came in. */
export type Door = "rest" | "mcp" | "a2a";

/** When the steps of a sold call were done: Unix milliseconds. A step that was not taken, or not before the sale, is left out. */
export interface SaleTimes {
  /** The call began. */
  readonly begun: number;
  /** The payment was reserved for this call. */
  readonly reserved?: number;
  readonly verified?: number;
  /** The handler was done; left out where the money moves first. */
  readonly worked?: number;
  /** The result, the job or the owed work was put on record. */
  readonly recorded?: number;
}

/** One settled payment. */
export interface SaleEvent {
  readonly kind: "sale";
  /** Made of the payment's key, so that one payment is one sale. */
  readonly id: string;
  /** When the settlement was known: Unix milliseconds. */
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
  /** Null when the facilitator did not say who has paid. EVM addresses are in lower case. */
  readonly payer: string | null;
  /** The receiving address, as the offer named it. */
  readonly receiver: string;
  readonly transaction: string;
  readonly requestId: string | null;
  /** Names a job, or work that was paid for before it was done; its refund refers to it. */
  readonly job: string | null;
  /** Digest of the set that sold it. */
  readonly set: string | null;
  readonly times: SaleTimes | null;
}

/** A sale that was paid back. */
export interface RefundEvent {
  readonly kind: "refund";
  readonly id: string;
  readonly at: number;
  /** The job or work of the sale. */
  readonly job: string;
  readonly service: string;
  readonly network: string;
  readonly asset: string;
  readonly amount: string;
  readonly payer: string | null;
  /** The transaction that has paid it back. */
  readonly transaction: string;
}

/**
 * `reversal`: the chain does not show a settlement that a facilitator has reported, and the sale does not count.
 * `restoration`: the chain shows it after all, and it counts again.
 */
export interface ReversalEvent {
  readonly kind: "reversal" | "restoration";
  readonly id: string;
  readonly at: number;
  /** The sale's id. */
  readonly sale: string;
}

/** What is entered in the book, once by its id. Nothing is changed or taken out again. */
export type BookEvent = SaleEvent | RefundEvent | ReversalEvent;

/** How often something happened in one minute. */
export interface BookTally {
  /** Minutes since the Unix epoch. */
  readonly minute: number;
  readonly service: string;
  readonly door: Door;
  /** The rail's id; empty where a call named none. */
  readonly rail: string;
  /**
   * `challenge`, `attempt` (a call with a payment), `refused:<reason>`, `result` (of a payment), `free` (without one),
   * `failed:<problem code>`, `left` (the caller had gone before the money moved), `gone` (when its result was ready),
   * `replay`, `early` (an earlier call with the payment still ran), `cache:hit` and `cache:miss` (reads of caches), and
   * `ms:<bound>`: calls that took at most so many milliseconds, and more than the bound before.
   */
  readonly what: string;
  readonly count: number;
}

/** The bounds of the latency buckets in milliseconds; the last bucket, `ms:inf`, has none. */
export const LATENCY_BOUNDS_MS: readonly number[] = [
  5, 10, 25, 50, 100, 250, 500, 1000, 2500, 5000, 10_000, 30_000, 60_000,
];

/** A payer as the book names it: addresses of EVM chains in lower case. */
export const toBookPayer = (network: string, payer: string | null): string | null =>
  network.startsWith("eip155:") ? (payer?.toLowerCase() ?? null) : payer;

/** Whether a line adds to what was earned, or takes off. */
export const SIGNS: Readonly<Record<BookEvent["kind"], 1 | -1>> = { sale: 1, refund: -1, reversal: -1, restoration: 1 };

const toId = (letter: string, key: string): string => `${letter}_${sha256(key).slice(0, 20)}`;

/** The id of a sale. @param key the payment's: `<network>:<authorization>`. */
export const saleId = (key: string): string => toId("sale", key);

/** The id of a refund. @param job the job or work that is paid back. */
export const refundId = (job: string): string => toId("refund", job);

/** The id of what happened to a sale. */
export const reversalId = (kind: ReversalEvent["kind"], sale: string): string =>
  `${kind}_${sale.slice(sale.indexOf("_") + 1)}`;
