import type { Clock } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { digestOf } from "../digest.ts";
import type { Store } from "../store.ts";
import type { PaymentRequirements } from "../x402/x402.ts";

export type OfferSet = ReadonlyMap<string, readonly PaymentRequirements[]>;

/**
 * Remembers which offers were made, so that a challenge stays payable at its own terms after a price, an address or a
 * rail changed, across restarts and between processes. A set is on record for as long as somebody makes it; once nobody
 * does, it runs out by itself. There are so few places for sets that reading all of them costs little: refused payments
 * make it happen.
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

/** A set of offers, and the digest that tells it from others. */
interface Made {
  readonly digest: string;
  readonly offers: readonly (readonly [service: string, offers: readonly PaymentRequirements[]])[];
}

/** For every process: its offers now, those of a moment ago, and room for facilitators that come and go. */
const PLACES = Array.from({ length: 64 }, (_, at) => `offers:${at}`);
const RENEW_MS = 60_000;
/** How long a reading of the record is used again. */
const FRESH_MS = 200;

export function createOfferHistory({ store, clock, offerSeconds, onError }: OfferHistoryDeps): OfferHistory {
  const ttlMs = offerSeconds * 1000 + 2 * RENEW_MS;
  let published: Made | undefined;
  let reading: { readonly at: number; readonly sets: Promise<readonly (Made | undefined)[]> } | undefined;
  const timer = setInterval(() => void place(published).catch(onError), RENEW_MS);
  timer.unref();

  return {
    async publish(set) {
      await place(published); // The outgoing set is payable from its last moment on, not from its last renewal.
      const offers = [...set];
      const next = { digest: digestOf(offers), offers };
      await place(next);
      published = next;
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
      return sets.flatMap((set) => set?.offers.find(([id]) => id === service)?.[1] ?? []);
    },
    close: () => clearInterval(timer),
  };

  /** Whoever makes the same offers shares their place. */
  async function place(set: Made | undefined): Promise<void> {
    if (!set) return;
    for (const key of PLACES) {
      if (await store.putIfAbsent(key, set, ttlMs)) return;
      if ((await store.get<Made>(key))?.digest === set.digest) return store.set(key, set, ttlMs);
    }
    throw new Problem("unavailable", `More than ${PLACES.length} different sets of offers were made lately`);
  }

  function readAll(): Promise<readonly (Made | undefined)[]> {
    return Promise.all(PLACES.map((key) => store.get<Made>(key)));
  }
}
