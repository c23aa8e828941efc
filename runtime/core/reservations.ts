import { randomUUID } from "node:crypto";
import type { Clock } from "../api/capabilities.ts";
import type { Store } from "./store.ts";
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "./x402.ts";

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
  readonly payment: PaymentPayload;
  readonly offer: PaymentRequirements;
  readonly output: unknown;
  /** Unix seconds; undefined where the chain alone limits the time. */
  readonly validBefore?: number;
  /** The last word of the facilitator. */
  readonly receipt?: SettleResponse;
  /** The exchange between peers that the call named when it was paid; one named later counts for nothing. */
  readonly exchange?: string;
}

/** The right to work on one payment, held by one call in one process. */
export interface Lease {
  readonly key: string;
  release(): Promise<void>;
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
  /** Puts the result on record before the settlement; false when another call has done so already. */
  begin(key: string, record: PaymentRecord): Promise<boolean>;
  /** Replaces the record after a settlement was tried. */
  update(key: string, record: PaymentRecord): Promise<void>;
  /** The payments whose settlement was begun and has no end on record. */
  open(): AsyncIterable<string>;
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

export function createReservations({ store, clock, onError, leaseMs = 2000 }: ReservationsDeps): Reservations {
  const owner = randomUUID();
  const held = new Set<string>();
  const timer = setInterval(() => {
    for (const key of held) store.set(`lease:${key}`, owner, leaseMs, "lazy").catch(onError);
  }, leaseMs / 5);
  timer.unref();

  const ttlOf = ({ validBefore }: PaymentRecord): number =>
    Math.max(KEEP_MS, (validBefore ?? 0) * 1000 - clock.now() + MARGIN_MS);

  return {
    async claim(key) {
      if (!(await store.putIfAbsent(`lease:${key}`, owner, leaseMs, "lazy"))) return undefined;
      held.add(key);
      return {
        key,
        async release() {
          if (held.delete(key)) await store.delete(`lease:${key}`, "lazy");
        },
      };
    },
    read: (key) => store.get<PaymentRecord>(`payment:${key}`),
    async begin(key, record) {
      const [begun] = await Promise.all([
        store.putIfAbsent(`payment:${key}`, record, ttlOf(record)),
        store.set(`open:${key}`, 1, ttlOf(record)),
      ]);
      return begun;
    },
    async update(key, record) {
      // Lazily: a record that has gone back to "settling" in a crash is brought to its end again by the chain.
      await Promise.all([
        store.set(`payment:${key}`, record, ttlOf(record), "lazy"),
        record.state === "settling"
          ? store.set(`open:${key}`, 1, ttlOf(record), "lazy")
          : store.delete(`open:${key}`, "lazy"),
      ]);
    },
    async *open() {
      for await (const key of store.keys("open:")) yield key.slice("open:".length);
    },
    close: () => clearInterval(timer),
  };
}
