import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { SaleEvent } from "../books/events.ts";
import { toDamaged } from "../damage.ts";
import type { EntryWrite, Store } from "../store.ts";
import { createLeases, type Lease } from "../time/leases.ts";
import type { PaymentRequirements } from "../x402/x402.ts";
import { type Corrector, createCorrector } from "./corrections.ts";
import { isPaymentRecord, OWED_MS, type PaymentRecord, UNATTENDED_MS } from "./record.ts";
import type { SaleOf } from "./sale-of.ts";

/** How owed work ended. Only the first recorded end counts. */
export type OwedEnd = { readonly state: "delivered"; readonly output: unknown } | { readonly state: "paid-back" };

/**
 * Gives each payment to one call at a time, across all processes that share the store. A lease is renewed while its
 * process lives and expires two seconds after the process dies. `begin` is a second guard before the settlement: it
 * succeeds once per payment, so that a process that stalled past its lease cannot settle what another call has begun.
 */
export interface Reservations extends Corrector {
  /** A lease, or undefined while another call holds it. */
  claimPayment(key: string): Promise<Lease | undefined>;
  read(key: string): Promise<PaymentRecord | undefined>;
  /**
   * The record, for a call that repeats the payment. A settled record is returned for a short time only: the payment is
   * public on the chain, signature included, and anybody could copy it. Later the wallet must prove itself by a
   * new signature: a sign-in, or a payment with the same `payment-identifier`.
   */
  recall(key: string): Promise<PaymentRecord | undefined>;
  /**
   * The terms of a record, as `recall` finds it, for a payment that would be refused: the answer, which can be large, is not
   * kept while the input still comes. @throws Problem `payment-in-progress` while a call works on it without a record: a new
   * challenge would be paid beside it.
   */
  recallTerms(key: string): Promise<PaymentRequirements | undefined>;
  /** Whether a payment without an expiry was settled, although its record has expired. */
  isSpent(key: string): Promise<boolean>;
  /** Records the payment before its settlement; false when another call has done so. */
  begin(key: string, record: PaymentRecord): Promise<boolean>;
  /**
   * Replaces the record, and enters the sale in the book when the payment is settled. The record is kept for at least
   * `keepMs`, and for as long as the authorization could be used again.
   * @throws Problem `unavailable`; for a refusal also without the lease, since another call may be settling the
   * payment.
   */
  update(key: string, record: PaymentRecord, keepMs?: number): Promise<void>;
  /** Keeps a settled record without its answer, for as long as the chain is searched for its transfer. */
  keepSought(key: string, record: PaymentRecord): Promise<void>;
  readSought(key: string): Promise<PaymentRecord | undefined>;
  /**
   * The chain shows a settlement by this transaction: corrects the book and the record, as far as that is kept, where another
   * one was reported, or the sale was doubted.
   */
  keepShown(key: string, transaction: string, reported: string | undefined): Promise<void>;
  /**
   * Marks that owed work, which must not be repeated, begins; false when it has begun already, which a process whose
   * lease has lapsed may not know.
   */
  beginOnce(key: string): Promise<boolean>;
  /** Removes the mark: nothing was done. */
  undoOnce(key: string): Promise<void>;
  /** Records the end of owed work, and returns the end that counts. */
  end(key: string, end: OwedEnd): Promise<OwedEnd>;
  readEnd(key: string): Promise<OwedEnd | undefined>;
  /** The payments that need background work: outcome unknown, not yet confirmed by the chain, or work still owed. */
  open(): AsyncIterable<string>;
  /** Puts a payment on the list of open ones, unless it is there. */
  enlist(key: string, record: PaymentRecord): Promise<void>;
  /** Enlists a payment durably. Its record, which was written before, is durable, too, once this resolves. */
  secure(key: string, record: PaymentRecord): Promise<void>;
  /** Removes a payment from the list of open ones. */
  strike(key: string): Promise<void>;
  /** Stops renewing leases. Those still held expire. */
  close(): void;
}

export interface ReservationsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly onError: (error: unknown) => void;
  /** When omitted, sales are not entered in the book. */
  readonly saleOf?: SaleOf | undefined;
  /** The shortest time for which answers are kept, for wallets that prove themselves by a new signature. */
  readonly answersMs?: number;
  readonly leaseMs?: number;
}

/** Stored answers are kept until the authorization can no longer be used, and at least this long. */
export const KEEP_MS = 15 * 60_000;
const MARGIN_MS = 60_000;
/**
 * A settlement on Solana is found at any age once its transaction is named, so that a shop that stood still finds what it
 * owes. A facilitator must not name it for another purchase meanwhile.
 */
const SPENT_MS = 30 * 24 * 60 * 60_000;

/** For how long wallets are shown what they have bought: today and the two days before. */
export const LISTED_MS: number = 3 * 24 * 60 * 60_000;

/** Whether a payment is known never to have moved, also when its record has expired. */
export const isKnownUnpaid = async (store: Pick<Store, "get">, key: string): Promise<boolean> =>
  (await store.get(`unpaid:${key}`)) !== undefined;

/** The record of a payment. @throws Problem `unavailable`, also when it is damaged. */
export async function readRecord(store: Pick<Store, "get">, key: string): Promise<PaymentRecord | undefined> {
  const record = await store.get<unknown>(`payment:${key}`);
  if (record === undefined || isPaymentRecord(record)) return record;
  throw toDamaged(`payment:${key}`, "It is no payment as this version of payphone writes them");
}

export function createReservations(deps: ReservationsDeps): Reservations {
  const { store, clock, onError, saleOf = () => undefined, answersMs = 0, leaseMs } = deps;
  const { correctSale } = createCorrector({ store, clock });
  const leases = createLeases({ store, prefix: "lease:", onError, leaseMs });
  /** The remaining time in which an authorization can be used. */
  const lifeOf = ({ validBefore = 0 }: PaymentRecord): number => Math.max(0, validBefore * 1000 - clock.now());
  /**
   * An authorization can be settled at its last moment; the search for the settlement goes on for the usual time after
   * it.
   */
  const openMsOf = (record: PaymentRecord): number =>
    lifeOf(record) + (record.owed || record.job !== undefined ? OWED_MS : UNATTENDED_MS);

  const recall: Reservations["recall"] = async (key) => {
    const record = await readRecord(store, key);
    return (record?.repeatUntil ?? Number.POSITIVE_INFINITY) < clock.now() ? undefined : record;
  };

  const update: Reservations["update"] = async (key, record, keepMs = KEEP_MS) => {
    if (record.state === "rejected" && !leases.holds(key))
      throw new Problem("unavailable", "Another call may be settling this payment: its lease has lapsed here");
    const { state, owed } = record;
    // What a facilitator has refused can still move, as long as the chain has not said that it cannot.
    const isOpen = state === "settling" || owed !== undefined || (state === "rejected" && !record.isFinal);
    const repeatMs = Math.max(keepMs, lifeOf(record) + MARGIN_MS);
    const ttlMs = isOpen ? openMsOf(record) : Math.max(repeatMs, state === "settled" ? answersMs : 0);
    const kept = isOpen || ttlMs === repeatMs ? record : { ...record, repeatUntil: clock.now() + repeatMs };
    // Lazy for a settlement: if a crash reverts it to "settling", the reconciler finds it on the chain again. Durable for
    // the beginning of work that must not be repeated: nothing else would show it.
    const durability = state === "settled" && !owed?.isBegun ? "lazy" : "durable";
    const outlivesRecord = state === "settled" && record.validBefore === undefined;
    const isUnpaid = state === "rejected" && record.isFinal === true; // Others may still be settled.
    await Promise.all([
      isUnpaid && store.set(`unpaid:${key}`, 1, LISTED_MS, "lazy"),
      outlivesRecord && store.set(`spent:${key}`, 1, SPENT_MS, durability),
      write(saleOf(key, record), { key: `payment:${key}`, value: kept, ttlMs, durability }),
      state === "settling" && store.set(`open:${key}`, 1, ttlMs),
    ]);
  };

  return {
    claimPayment: leases.claim,
    read: (key) => readRecord(store, key),
    recall,
    async recallTerms(key) {
      const isClaimed = await leases.isClaimed(key); // Read first: the call may write its record and end meanwhile.
      const record = await recall(key);
      if (isClaimed && !record) throw new Problem("payment-in-progress", undefined, { retryAfter: 1 });
      return record?.payment.accepted;
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
    update,
    async keepSought(key, { output: _, ...record }) {
      await store.putIfAbsent(`sought:${key}`, record, openMsOf(record), "lazy");
    },
    readSought: (key) => store.get<PaymentRecord>(`sought:${key}`),
    correctSale,
    async keepShown(key, transaction, reported) {
      const isOther = transaction !== reported; // The facilitator has replaced it, or somebody else has settled.
      if (isOther) await correctSale(key, "reversal", transaction);
      const isBack = await correctSale(key, "restoration", transaction);
      if (!isOther && !isBack) return;
      const [kept, sought] = await Promise.all([readRecord(store, key), store.get<PaymentRecord>(`sought:${key}`)]);
      const keepMs = Math.max(0, (kept?.settledAt ?? 0) + KEEP_MS - clock.now()); // No longer than before.
      await Promise.all([
        kept?.state === "settled" && update(key, toShown(kept, transaction), keepMs),
        sought && store.set(`sought:${key}`, toShown(sought, transaction), openMsOf(sought), "lazy"),
      ]);
    },
    // Lazy: the record that says it durably is written next.
    beginOnce: (key) => store.putIfAbsent(`owed-begun:${key}`, 1, OWED_MS, "lazy"),
    undoOnce: (key) => store.delete(`owed-begun:${key}`),
    async end(key, end) {
      const isFirst = await store.putIfAbsent(`owed-end:${key}`, end, OWED_MS);
      return isFirst ? end : ((await store.get<OwedEnd>(`owed-end:${key}`)) ?? end);
    },
    readEnd: (key) => store.get<OwedEnd>(`owed-end:${key}`),
    async *open() {
      for await (const key of store.keys("open:")) yield key.slice("open:".length);
    },
    async enlist(key, record) {
      if ((await store.get(`open:${key}`)) === undefined) await store.set(`open:${key}`, 1, openMsOf(record));
    },
    secure: (key, record) => store.set(`open:${key}`, 1, openMsOf(record)),
    strike: (key) => store.delete(`open:${key}`, "lazy"),
    close: leases.close,
  };

  function write(sale: SaleEvent | undefined, entry: EntryWrite): Promise<void> {
    if (sale) return store.enter(sale, entry);
    return store.set(entry.key, entry.value, entry.ttlMs, entry.durability);
  }
}

function toShown(record: PaymentRecord, transaction: string): PaymentRecord {
  const { network } = record.payment.accepted;
  return { ...record, isFinal: true, receipt: { success: true, network, ...record.receipt, transaction } };
}
