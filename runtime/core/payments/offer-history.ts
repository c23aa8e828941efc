import { Problem } from "../../api/problem.ts";
import { digestOf } from "../digest.ts";
import type { Store } from "../store.ts";
import type { PaymentRequirements } from "../x402/x402.ts";

export type OfferSet = ReadonlyMap<string, readonly PaymentRequirements[]>;

/**
 * Remembers which offers were made, so that a challenge stays payable at its own terms after a price, an address or a
 * rail changed, across restarts and between processes. An offer is on record for as long as somebody makes it; once nobody
 * does, it runs out by itself. However many prices a service had lately, only those of one amount are read.
 */
export interface OfferHistory {
  /** Puts a set on record, and keeps it there until the next one is published. */
  publish(offers: OfferSet): Promise<void>;
  /** Every offer of a service, on a network and for an amount, that may still be paid, the current ones included. */
  earlier(service: string, terms: Pick<PaymentRequirements, "network" | "amount">): Promise<PaymentRequirements[]>;
  close(): void;
}

export interface OfferHistoryDeps {
  readonly store: Store;
  /** How long an offer may be paid after it was made. */
  readonly offerSeconds: number;
  readonly onError: (error: unknown) => void;
}

/** An offer, its place without the number, and the digest that tells it from others there. */
interface Made {
  readonly place: string;
  readonly digest: string;
  readonly offer: PaymentRequirements;
}

/** For offers that differ in something else than service, network and amount: tokens, recipients, payers of fees. */
const PLACES = 16;
const RENEW_MS = 60_000;
/** As long as the largest number of a token. */
const AMOUNT = /^\d{1,78}$/;

export function createOfferHistory({ store, offerSeconds, onError }: OfferHistoryDeps): OfferHistory {
  const ttlMs = offerSeconds * 1000 + 2 * RENEW_MS;
  let published: ReadonlyMap<string, Made> = new Map();
  const timer = setInterval(() => void keep(published).catch(onError), RENEW_MS);
  timer.unref();

  return {
    async publish(set) {
      const next = toMade(set);
      await keep(new Map([...published, ...next])); // Outgoing offers are payable from their last moment on.
      published = next;
    },
    async earlier(service, terms) {
      if (!AMOUNT.test(terms.amount)) return [];
      const place = toPlace(service, terms);
      const found = Array.from({ length: PLACES }, (_, at) => store.get<PaymentRequirements>(`${place}:${at}`));
      return (await Promise.all(found)).flatMap((offer) => offer ?? []);
    },
    close: () => clearInterval(timer),
  };

  async function keep(made: ReadonlyMap<string, Made>): Promise<void> {
    await Promise.all([...made.values()].map(keepOne));
  }

  /** Whoever makes the same offer shares its place. */
  async function keepOne({ place, digest, offer }: Made): Promise<void> {
    for (let at = 0; at < PLACES; at += 1) {
      const key = `${place}:${at}`;
      if (await store.putIfAbsent(key, offer, ttlMs)) return;
      const there = await store.get<PaymentRequirements>(key);
      if (there && digestOf(there) === digest) return store.set(key, offer, ttlMs);
    }
    const minutes = Math.ceil(ttlMs / 60_000);
    throw new Problem(
      "unavailable",
      `One price had more than ${PLACES} tokens, recipients and payers of fees in ${minutes} minutes, and each is payable for that long: try again in ${minutes} minutes`,
    );
  }
}

const toPlace = (service: string, { network, amount }: Pick<PaymentRequirements, "network" | "amount">): string =>
  `offer:${service}:${network}:${amount}`;

/** By place and digest. */
const toMade = (set: OfferSet): ReadonlyMap<string, Made> =>
  new Map(
    [...set].flatMap(([service, offers]) =>
      offers.map((offer) => {
        const made = { place: toPlace(service, offer), digest: digestOf(offer), offer };
        return [`${made.place} ${made.digest}`, made] as const;
      }),
    ),
  );
