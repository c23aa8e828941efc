import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import {
  type Corrections,
  correctionsKey,
  type ReversalEvent,
  reversalId,
  type SaleEvent,
  saleId,
  toCorrections,
} from "../books/events.ts";
import { toDamaged } from "../damage.ts";
import type { EntryWrite, Store } from "../store.ts";
import { createLeases, type Lease } from "../time/leases.ts";
import { readEip3009 } from "../x402/eip3009.ts";
import type { JobPayment, PaymentRequirements } from "../x402/x402.ts";
import { isPaymentRecord, type PaymentRecord } from "./record.ts";
import type { SaleOf } from "./sale-of.ts";

/** How owed work ended. Only the first recorded end counts. */
export type OwedEnd = { readonly state: "delivered"; readonly output: unknown } | { readonly state: "paid-back" };

/**
 * Gives each payment to one call at a time, across all processes that share the store. A lease is renewed while its
 * process lives and expires two seconds after the process dies. `begin` is a second guard before the settlement: it
 * succeeds once per payment, so that a process that stalled past its lease cannot settle what another call has begun.
 */
export interface Reservations {
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
   * Corrects the book: a settlement that a facilitator has reported is doubted ("reversal"), and open again; or the chain
   * shows it after all ("restoration"). Idempotent.
   * @param shown by which transaction the chain shows it: a reversal takes nothing back that counts by that one already
   */
  correctSale(key: string, kind: ReversalEvent["kind"], shown?: string): Promise<void>;
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
/** How long unresolved payments are kept, and results that nobody has fetched. */
export const UNATTENDED_MS = 24 * 60 * 60_000;
/** How long owed work is remembered until it is delivered or refunded, and a job until it begins, also while no process runs. */
const OWED_MS = 30 * 24 * 60 * 60_000;

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
    async update(key, record, keepMs = KEEP_MS) {
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
    },
    async keepSought(key, { output: _, ...record }) {
      await store.putIfAbsent(`sought:${key}`, record, openMsOf(record), "lazy");
    },
    readSought: (key) => store.get<PaymentRecord>(`sought:${key}`),
    async correctSale(key, kind, shown) {
      const mark = correctionsKey(key);
      const known = toCorrections(await store.get(mark));
      const isDoubted = kind === "reversal";
      if ((known.times % 2 === 1) === isDoubted) return;
      if (isDoubted && shown !== undefined && known.times > 0 && (known.transaction ?? shown) === shown) return;
      const sale = saleId(key);
      const times = known.times + 1;
      const transaction = isDoubted ? known.transaction : shown;
      const event = { kind, id: reversalId(kind, sale, times), at: clock.now(), sale, transaction } as const;
      const value: Corrections = { times, transaction };
      await Promise.all([
        store.enter(event, { key: mark, value, ttlMs: OWED_MS }),
        isDoubted && store.set(`open:${key}`, 1, UNATTENDED_MS), // Another process may just have struck it out.
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

/** How a settled payment was paid. The payer is the signer, whatever the facilitator reports. */
export function toJobPayment({ payment, receipt, payer }: PaymentRecord): JobPayment {
  const { network, asset, amount } = payment.accepted;
  const signed = readEip3009(payment.payload);
  return {
    network,
    asset,
    amount,
    payer: signed?.authorization.from ?? payer ?? receipt?.payer ?? null,
    transaction: receipt?.transaction ?? "",
    ...(signed && { signed }),
  };
}
