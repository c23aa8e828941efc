import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { reversalId, type SaleEvent, saleId } from "../books/events.ts";
import { createLeases, type Lease } from "../leases.ts";
import type { EntryWrite, Store } from "../store.ts";
import { readEip3009 } from "../x402/eip3009.ts";
import type { JobPayment } from "../x402/x402.ts";
import type { PaymentRecord } from "./record.ts";
import type { SaleOf } from "./sale-of.ts";

/** How owed work ended. The first end on record is the only one. */
export type OwedEnd = { readonly state: "delivered"; readonly output: unknown } | { readonly state: "paid-back" };

/**
 * Gives each payment to one call at a time, across all processes that share the store. A lease is renewed while its
 * process lives and lapses two seconds after it died. `begin` is the second guard before the money: it succeeds once for
 * each payment, so that a process that was stalled beyond its lease cannot settle what another one has begun.
 */
export interface Reservations {
  /** A lease, or undefined while another call holds it. */
  claimPayment(key: string): Promise<Lease | undefined>;
  read(key: string): Promise<PaymentRecord | undefined>;
  /**
   * The record for whoever repeats the payment. A settled one is told for a short time only: what is on chain, the signature
   * included, is everybody's to copy. Later its wallet must prove itself by a new signature.
   */
  recall(key: string): Promise<PaymentRecord | undefined>;
  /** Whether a payment was settled whose record has expired: only where the payment itself has no expiry. */
  isSpent(key: string): Promise<boolean>;
  /** Puts the payment on record before the settlement; false when another call has done so. */
  begin(key: string, record: PaymentRecord): Promise<boolean>;
  /**
   * Replaces the record, and enters the sale that it is in the book; the record is kept for `keepMs`, or for as long as the authorization could be used again.
   * @throws Problem `unavailable`; a refusal also without the lease, since another call may be settling the payment then.
   */
  update(key: string, record: PaymentRecord, keepMs?: number): Promise<void>;
  /**
   * Enters in the book that a facilitator's word for a settlement is not believed (true), or that the chain shows it after
   * all (false). Doing it again changes nothing.
   */
  doubt(key: string, isDoubted: boolean): Promise<void>;
  /** Puts the end of owed work on record, and gives back the one that counts. */
  end(key: string, end: OwedEnd): Promise<OwedEnd>;
  readEnd(key: string): Promise<OwedEnd | undefined>;
  /** The payments that want background work: no known outcome, not yet confirmed by the chain, or work still owed. */
  open(): AsyncIterable<string>;
  /** Takes a payment off the list of open ones. */
  strike(key: string): Promise<void>;
  /** Stops renewing. Leases that are still held lapse. */
  close(): void;
}

export interface ReservationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** Left out: no sale is entered in the book. */
  readonly saleOf?: SaleOf | undefined;
  /** How long answers are kept at least for wallets that prove themselves. */
  readonly answersMs?: number;
  readonly leaseMs?: number;
}

/** Stored answers live until the authorization cannot be used any more, and at least this long. */
export const KEEP_MS = 15 * 60_000;
const MARGIN_MS = 60_000;
/** The chain's readers look back for a day. Whatever they could find settled must be remembered, or it would buy again. */
const SPENT_MS = 25 * 60 * 60_000;
/** How long open payments are kept, and results that came about while nobody asked. */
export const UNATTENDED_MS = 24 * 60 * 60_000;
/** How long work that was paid for is remembered until it is delivered or paid back, also while no process runs. */
const OWED_MS = 30 * 24 * 60 * 60_000;

/** What is on record of a payment. */
export const readRecord = (store: Pick<Store, "get">, key: string): Promise<PaymentRecord | undefined> =>
  store.get<PaymentRecord>(`payment:${key}`);

export function createReservations(deps: ReservationsDeps): Reservations {
  const { store, clock, onError, saleOf = () => undefined, answersMs = 0, leaseMs } = deps;
  const leases = createLeases({ store, prefix: "lease:", onError, leaseMs });
  /** How long an authorization can still be used. */
  const lifeOf = ({ validBefore = 0 }: PaymentRecord): number => Math.max(0, validBefore * 1000 - clock.now());
  /** A payment may be settled in its last moment, and is looked for as long as any other afterwards. */
  const openMsOf = (record: PaymentRecord): number => lifeOf(record) + (record.owed ? OWED_MS : UNATTENDED_MS);

  return {
    claimPayment: leases.claim,
    read: (key) => readRecord(store, key),
    async recall(key) {
      const record = await readRecord(store, key);
      return (record?.repeatUntil ?? Number.POSITIVE_INFINITY) < clock.now() ? undefined : record;
    },
    isSpent: async (key) => (await store.get(`spent:${key}`)) !== undefined,
    async begin(key, record) {
      const ttlMs = openMsOf(record);
      const [begun] = await Promise.all([
        store.putIfAbsent(`payment:${key}`, record, ttlMs),
        store.set(`open:${key}`, 1, ttlMs),
      ]);
      return begun;
    },
    async update(key, record, keepMs = KEEP_MS) {
      if (record.state === "rejected" && !leases.holds(key))
        throw new Problem("unavailable", "Another call may be settling this payment: its lease has lapsed here");
      const { state, owed } = record;
      const isOpen = state === "settling" || owed !== undefined;
      const repeatMs = Math.max(keepMs, lifeOf(record) + MARGIN_MS);
      const ttlMs = isOpen ? openMsOf(record) : Math.max(repeatMs, state === "settled" ? answersMs : 0);
      const kept = isOpen || ttlMs === repeatMs ? record : { ...record, repeatUntil: clock.now() + repeatMs };
      // A settlement is written lazily: if a crash takes it back to "settling", the chain brings it to its end again.
      const durability = state === "settled" ? "lazy" : "durable";
      const outlivesRecord = state === "settled" && record.validBefore === undefined;
      await Promise.all([
        outlivesRecord && store.set(`spent:${key}`, 1, SPENT_MS, durability),
        write(saleOf(key, record), { key: `payment:${key}`, value: kept, ttlMs, durability }),
        state === "settling" && store.set(`open:${key}`, 1, ttlMs),
      ]);
    },
    async doubt(key, isDoubted) {
      const mark = `doubted:${key}`;
      if (((await store.get(mark)) ?? false) === isDoubted) return;
      const kind = isDoubted ? "reversal" : "restoration";
      const sale = saleId(key);
      const event = { kind, id: reversalId(kind, sale), at: clock.now(), sale } as const;
      await store.enter(event, { key: mark, value: isDoubted, ttlMs: OWED_MS });
    },
    async end(key, end) {
      const isFirst = await store.putIfAbsent(`owed-end:${key}`, end, OWED_MS);
      return isFirst ? end : ((await store.get<OwedEnd>(`owed-end:${key}`)) ?? end);
    },
    readEnd: (key) => store.get<OwedEnd>(`owed-end:${key}`),
    async *open() {
      for await (const key of store.keys("open:")) yield key.slice("open:".length);
    },
    strike: (key) => store.delete(`open:${key}`, "lazy"),
    close: leases.close,
  };

  function write(sale: SaleEvent | undefined, entry: EntryWrite): Promise<void> {
    if (sale) return store.enter(sale, entry);
    return store.set(entry.key, entry.value, entry.ttlMs, entry.durability);
  }
}

/** How a settled payment was paid. Whose signature has moved the money is the payer, whatever a facilitator writes. */
export function toJobPayment({ payment, receipt, payer }: PaymentRecord): JobPayment {
  const { network, asset, amount } = payment.accepted;
  return {
    network,
    asset,
    amount,
    payer: readEip3009(payment.payload)?.authorization.from ?? payer ?? receipt?.payer ?? null,
    transaction: receipt?.transaction ?? "",
  };
}
