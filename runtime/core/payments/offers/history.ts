import { Problem } from "../../../api/problem.ts";
import { unlessDamaged } from "../../damage.ts";
import { digestOf } from "../../digest.ts";
import { isObject } from "../../json.ts";
import type { Store } from "../../store.ts";
import type { PaymentRequirements } from "../../x402/x402.ts";

export type OfferSet = ReadonlyMap<string, readonly PaymentRequirements[]>;

/**
 * Stores the offers that were made, so that a challenge stays payable at its own terms after a change of price, address
 * or rail, across restarts and processes. An offer stays on record while any process makes it, and expires afterwards.
 * Only offers of one amount are read, however many prices a service had lately.
 */
export interface OfferHistory {
  /** Records a set of offers, and keeps it on record until the next set is published. */
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

/** An offer, its key in the store without the number, and its digest. */
interface Made {
  readonly place: string;
  readonly digest: string;
  readonly offer: PaymentRequirements;
}

/**
 * The most offers with equal service, network and amount; they differ in token, recipient or fee payer. Some facilitators have
 * dozens of fee payers on Solana, of which each start of each process is told another.
 */
const PLACES = 64;
const RENEW_MS = 60_000;
/** A uint256 has at most 78 digits. */
const AMOUNT = /^\d{1,78}$/;

export function createOfferHistory({ store, offerSeconds, onError }: OfferHistoryDeps): OfferHistory {
  const ttlMs = offerSeconds * 1000 + 2 * RENEW_MS;
  let published: ReadonlyMap<string, Made> = new Map();
  const timer = setInterval(() => void keep(published).catch(onError), RENEW_MS);
  timer.unref();

  return {
    async publish(set) {
      const next = toMade(set);
      await keep(new Map([...published, ...next])); // Also the old offers: each is payable for its full time.
      published = next;
    },
    async earlier(service, terms) {
      if (!AMOUNT.test(terms.amount)) return [];
      const place = toPlace(service, terms);
      const found = Array.from({ length: PLACES }, (_, at) => read(`${place}:${at}`));
      return (await Promise.all(found)).flatMap((offer) => offer ?? []);
    },
    close: () => clearInterval(timer),
  };

  /** A damaged offer is no offer. Nobody renews it, so that it expires within minutes. */
  async function read(key: string): Promise<PaymentRequirements | undefined> {
    const offer = await store.get<unknown>(key).catch(unlessDamaged);
    return isOffer(offer) ? offer : undefined;
  }

  async function keep(made: ReadonlyMap<string, Made>): Promise<void> {
    await Promise.all([...made.values()].map(keepOne));
  }

  /** Equal offers share a place. */
  async function keepOne({ place, digest, offer }: Made): Promise<void> {
    for (let at = 0; at < PLACES; at += 1) {
      const key = `${place}:${at}`;
      if (await store.putIfAbsent(key, offer, ttlMs)) return;
      const there = await read(key);
      if (there && digestOf(there) === digest) return store.set(key, offer, ttlMs);
    }
    const minutes = Math.ceil(ttlMs / 60_000);
    throw new Problem(
      "unavailable",
      `One price had more than ${PLACES} tokens, recipients and payers of fees in ${minutes} minutes, and each is payable for that long: try again in ${minutes} minutes`,
    );
  }
}

function isOffer(record: unknown): record is PaymentRequirements {
  if (!isObject(record) || !isObject(record.extra) || typeof record.maxTimeoutSeconds !== "number") return false;
  const { scheme, network, asset, amount, payTo } = record;
  return [scheme, network, asset, amount, payTo].every((text) => typeof text === "string");
}

const toPlace = (service: string, { network, amount }: Pick<PaymentRequirements, "network" | "amount">): string =>
  `offer:${service}:${network}:${amount}`;

/** Keyed by place and digest. */
const toMade = (set: OfferSet): ReadonlyMap<string, Made> =>
  new Map(
    [...set].flatMap(([service, offers]) =>
      offers.map((offer) => {
        const made = { place: toPlace(service, offer), digest: digestOf(offer), offer };
        return [`${made.place} ${made.digest}`, made] as const;
      }),
    ),
  );
