import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createLeases, type Lease } from "../leases.ts";
import type { Store } from "../store.ts";
import { readEip3009 } from "../x402/eip3009.ts";
import type { JobPayment, PaymentPayload, SettleResponse } from "../x402/x402.ts";

/**
 * What is remembered of one payment, written before its settlement is tried. The result is kept with it, so that whoever
 * paid gets what was paid for, whatever crashes in between.
 */
export interface PaymentRecord {
  /** `settling`: sent, outcome not known. `rejected`: refused and nothing moved. `settled`: the money is ours. */
  readonly state: "settling" | "rejected" | "settled";
  /** Digest of the payment's fingerprint, service and input: only exactly the same call may have the stored answer. */
  readonly request: string;
  /** Digest of everything signed and the signature: compared before any input is hashed. */
  readonly fingerprint: string;
  /** The service's id. */
  readonly service: string;
  /** As it is settled: with the offer that it was made for in `accepted`. */
  readonly payment: PaymentPayload;
  /** The answer; left out while `owed` is set. */
  readonly output?: unknown;
  /** Set where the money moves before the work, until the work is delivered. */
  readonly owed?: Owed;
  /** Unix seconds; undefined where the chain alone limits the time. */
  readonly validBefore?: number;
  /** The facilitator's newest answer. */
  readonly receipt?: SettleResponse;
  /** Whether the chain itself has shown this state: nothing is left to be looked up. */
  readonly isFinal?: boolean;
  /** When the settlement was known: Unix milliseconds. */
  readonly settledAt?: number;
  /** The verified payer. */
  readonly payer?: string;
  /** The job that begins once the payment is settled. */
  readonly job?: string;
  /** Until when a repetition of the payment gets the answer: Unix milliseconds. */
  readonly repeatUntil?: number;
  /** The exchange between peers that the call named when it was paid; one named later does not count. */
  readonly exchange?: string;
}

/** Work that is paid for and not delivered. */
export interface Owed {
  /** Names the work in its steps and in its refund: a UUID. */
  readonly id: string;
  readonly input: unknown;
  /** How many runs have failed. */
  readonly failures: number;
  /** Why the newest run failed: a sentence. */
  readonly reason?: string;
  /** Nothing is delivered any more: the refund was opened. */
  readonly isPaidBack?: true;
}

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
   * Replaces the record, which is kept for `keepMs`, or for as long as the authorization could be used again.
   * @throws Problem `unavailable`; a refusal also without the lease, since another call may be settling the payment then.
   */
  update(key: string, record: PaymentRecord, keepMs?: number): Promise<void>;
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

export function createReservations({ store, clock, onError, answersMs = 0, leaseMs }: ReservationsDeps): Reservations {
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
        store.set(`payment:${key}`, kept, ttlMs, durability),
        state === "settling" && store.set(`open:${key}`, 1, ttlMs),
      ]);
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
