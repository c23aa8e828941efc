import type { Clock } from "../api/capabilities.ts";
import { digestOf } from "./digest.ts";
import type { Store } from "./store.ts";
import type { PaymentRequirements } from "./x402.ts";

export type OfferSet = ReadonlyMap<string, readonly PaymentRequirements[]>;

/**
 * Remembers which offers were made, so that a challenge stays payable at its own terms after a price, an address or a
 * rail changed, across restarts and between processes. A set is on record under its own digest and is renewed for as
 * long as somebody makes it; once nobody does, it runs out by itself.
 */
export interface OfferHistory {
  /** Puts a set on record, and keeps it there until the next one is published. */
  publish(offers: OfferSet): Promise<void>;
  /** Every offer of a service that may still be paid, the current ones included. */
  earlier(service: string): Promise<readonly PaymentRequirements[]>;
  close(): void;
}

export interface OfferHistoryDeps {
  readonly store: Store;
  readonly clock: Clock;
  /** How long an offer may be paid after it was made. */
  readonly offerSeconds: number;
  readonly onError: (error: unknown) => void;
}

type Entry = [service: string, offers: readonly PaymentRequirements[]];

const PREFIX = "offers:";
const RENEW_MS = 60_000;
/** How long a reading of the record is used again, so that refused payments cannot make the store work. */
const FRESH_MS = 2000;

export function createOfferHistory({ store, clock, offerSeconds, onError }: OfferHistoryDeps): OfferHistory {
  const ttlMs = offerSeconds * 1000 + 2 * RENEW_MS;
  let published: { key: string; value: Entry[] } | undefined;
  let reading: { at: number; sets: Promise<Entry[][]> } | undefined;
  const renew = async (): Promise<void> => {
    if (published) await store.set(published.key, published.value, ttlMs);
  };
  const timer = setInterval(() => void renew().catch(onError), RENEW_MS);
  timer.unref();

  return {
    async publish(offers) {
      await renew(); // The outgoing set is payable from its last moment on, not from its last renewal.
      const value: Entry[] = [...offers];
      published = { key: PREFIX + digestOf(value), value };
      await renew();
      reading = undefined;
    },
    async earlier(service) {
      // A clock that was put back would make an old reading last, and with it offers that have run out.
      const isFresh = reading && Math.abs(clock.now() - reading.at) <= FRESH_MS;
      if (!reading || !isFresh) reading = { at: clock.now(), sets: readAll() };
      const sets = await reading.sets.catch((error: unknown) => {
        reading = undefined;
        throw error;
      });
      return sets.flatMap((set) => set.find(([id]) => id === service)?.[1] ?? []);
    },
    close: () => clearInterval(timer),
  };

  async function readAll(): Promise<Entry[][]> {
    const sets: Entry[][] = [];
    for await (const key of store.keys(PREFIX)) sets.push((await store.get<Entry[]>(key)) ?? []);
    return sets;
  }
}
