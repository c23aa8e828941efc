import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createLeases, type Lease } from "../leases.ts";
import type { Store } from "../store.ts";
import type { PaymentPayload, SettleResponse } from "../x402/x402.ts";

/**
 * The memory of one payment, written before its settlement is tried. From then on the result is kept with it, so that
 * whoever paid gets what was paid for, whatever crashes in between.
 */
export interface PaymentRecord {
  /** `settling`: sent, outcome not known. `rejected`: refused and nothing moved. `settled`: the money is ours. */
  readonly state: "settling" | "rejected" | "settled";
  /** The payment's fingerprint, service and input: only exactly the same call may have the stored answer. */
  readonly request: string;
  readonly service: string;
  /** As it is settled: with the offer that it was made for in `accepted`. */
  readonly payment: PaymentPayload;
  readonly output: unknown;
  /** Unix seconds; undefined where the chain alone limits the time. */
  readonly validBefore?: number;
  /** The last word of the facilitator. */
  readonly receipt?: SettleResponse;
  /** Whom the facilitator has verified. */
  readonly payer?: string;
  /** The job that the settled payment lets begin. */
  readonly job?: string;
  /** The exchange between peers that the call named when it was paid; one named later counts for nothing. */
  readonly exchange?: string;
}

/**
 * Gives each payment to one call at a time, across all processes that share the store. A lease is renewed while its
 * process lives and lapses two seconds after it died. A second guard stands before the money: `begin` succeeds once
 * for each payment, so that even a process that was stalled beyond its lease cannot settle what another one has begun.
 */
export interface Reservations {
  /** A lease, or undefined while another call holds it. */
  claim(key: string): Promise<Lease | undefined>;
  read(key: string): Promise<PaymentRecord | undefined>;
  /** Whether a payment was settled whose record has run out already: only where nothing in it limits its time. */
  isSpent(key: string): Promise<boolean>;
  /** Puts the result on record before the settlement; false when another call has done so already. */
  begin(key: string, record: PaymentRecord): Promise<boolean>;
  /**
   * Replaces the record. Its answer can be fetched for `keepMs`, or for as long as the authorization could be used again.
   * @throws Problem `unavailable`, also when a refusal is to be noted without the lease: it is worth nothing then.
   */
  update(key: string, record: PaymentRecord, keepMs?: number): Promise<void>;
  /** The payments whose settlement was begun and has no end on record. */
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
  readonly leaseMs?: number;
}

/** Stored answers live until the authorization cannot be used any more, and at least this long. */
const KEEP_MS = 15 * 60_000;
const MARGIN_MS = 60_000;
/** The chain's readers look back for a day. Whatever they could find settled must be remembered, or it would buy again. */
const SPENT_MS = 25 * 60 * 60_000;
/** So long, what has no end yet is remembered, and what came to it while nobody asked. */
export const UNATTENDED_MS = 24 * 60 * 60_000;

export function createReservations({ store, clock, onError, leaseMs }: ReservationsDeps): Reservations {
  const leases = createLeases({ store, prefix: "lease:", onError, leaseMs });
  /** How long an authorization can still be used. */
  const lifeOf = ({ validBefore = 0 }: PaymentRecord): number => Math.max(0, validBefore * 1000 - clock.now());
  /** It may be settled in its last moment, and that is looked for as long as anything else. */
  const openMsOf = (record: PaymentRecord): number => lifeOf(record) + UNATTENDED_MS;

  return {
    claim: leases.claim,
    read: (key) => store.get<PaymentRecord>(`payment:${key}`),
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
      const isOpen = record.state === "settling";
      const ttlMs = isOpen ? openMsOf(record) : Math.max(keepMs, lifeOf(record) + MARGIN_MS);
      // A settlement lazily: if a crash takes it back to "settling", the chain brings it to its end again.
      const durability = record.state === "settled" ? "lazy" : "durable";
      const outlivesRecord = record.state === "settled" && record.validBefore === undefined;
      await Promise.all([
        outlivesRecord && store.set(`spent:${key}`, 1, SPENT_MS, durability),
        store.set(`payment:${key}`, record, ttlMs, durability),
        isOpen ? store.set(`open:${key}`, 1, ttlMs, durability) : store.delete(`open:${key}`, durability),
      ]);
    },
    async *open() {
      for await (const key of store.keys("open:")) yield key.slice("open:".length);
    },
    strike: (key) => store.delete(`open:${key}`, "lazy"),
    close: leases.close,
  };
}
