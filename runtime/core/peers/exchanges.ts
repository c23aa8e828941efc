import { randomBytes } from "node:crypto";
import type { Clock } from "../../api/capabilities.ts";
import { type PaymentRecord, toJobPayment } from "../payments/record.ts";
import { railOfToken } from "../rails/tokens.ts";
import type { SiteManifest } from "../set/manifest.ts";
import { amountOn, type Tariff } from "../set/price.ts";
import type { Store } from "../store.ts";
import type { JobPayment } from "../x402/x402.ts";
import { PEER_POLICY } from "./policy.ts";

/** A price that was quoted to a peer, on record under the exchange's id. */
export interface PeerExchange {
  /** The peer's origin. */
  readonly peer: string;
  readonly skill: string;
  /** Dollars, decimal text. */
  readonly price: string;
  /** The digest of the signed quote. */
  readonly quoteDigest: string;
  /** Unix seconds. */
  readonly quotedAt: number;
}

/** A settled payment of a call that named its exchange, as this server saw it. */
export interface ObservedSettlement extends Omit<JobPayment, "signed"> {
  /** Unix seconds. */
  readonly observed_at: number;
}

/** The records of exchanges between peers: quotes, settlements and receipts. Each is kept for a day. */
export interface Exchanges {
  /** A new id: `ax-` and 24 hex digits. */
  createId(): string;
  open(id: string, exchange: PeerExchange): Promise<void>;
  read(id: string): Promise<PeerExchange | undefined>;
  /**
   * Records the settlement of a call that named an exchange, if skill and price are those of the quote. The first one
   * counts.
   */
  observe(settled: PaymentRecord): Promise<void>;
  observed(id: string): Promise<ObservedSettlement | undefined>;
  /** Stores the receipt of an exchange and returns it, or the one stored before: an exchange has one receipt. */
  conclude<T>(id: string, receipt: T): Promise<T>;
}

export interface ExchangesDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly site: Pick<SiteManifest, "rails"> & Tariff;
  readonly createId?: () => string;
}

const ID = /^ax-[0-9a-f]{24}$/;
const KEEP_MS = PEER_POLICY.receipt_seconds * 1000;

/** An exchange's id from a header or a body; undefined when malformed. */
export const toExchangeId = (value: unknown): string | undefined =>
  typeof value === "string" && ID.test(value) ? value : undefined;

/** The records of exchanges in a store. */
export function createExchanges({ store, clock, site, createId = createRandomId }: ExchangesDeps): Exchanges {
  const read = (id: string): Promise<PeerExchange | undefined> => store.get<PeerExchange>(`a2a:exchange:${id}`);

  return {
    createId,
    read,
    open: (id, exchange) => store.set(`a2a:exchange:${id}`, exchange, KEEP_MS),
    observed: (id) => store.get<ObservedSettlement>(`a2a:observed:${id}`),
    async observe(settled) {
      const { exchange: id, service, payment, receipt } = settled;
      const exchange = id === undefined ? undefined : await read(id);
      if (exchange?.skill !== service || !receipt) return;
      const { signed: _, ...paid } = toJobPayment(settled);
      const rail = railOfToken(site.rails, payment.accepted);
      if (!rail || amountOn(rail, exchange.price, site)?.toString() !== paid.amount) return;
      const seen = { ...paid, observed_at: Math.floor(clock.now() / 1000) };
      await store.putIfAbsent(`a2a:observed:${id}`, seen satisfies ObservedSettlement, KEEP_MS);
    },
    async conclude<T>(id: string, receipt: T) {
      const isFirst = await store.putIfAbsent(`a2a:receipt:${id}`, receipt, KEEP_MS);
      return isFirst ? receipt : ((await store.get<T>(`a2a:receipt:${id}`)) as T);
    },
  };
}

const createRandomId = (): string => `ax-${randomBytes(12).toString("hex")}`;
