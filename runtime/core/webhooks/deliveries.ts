import type { Store } from "../store.ts";
import type { WebhookEvent } from "./events.ts";

/** An event that a receiver has not taken yet. */
export interface Delivery {
  readonly endpoint: string;
  readonly event: WebhookEvent;
  /** Since when it is on record: Unix milliseconds. */
  readonly since: number;
  readonly failures: number;
  /** When it is tried again: Unix milliseconds. */
  readonly notBefore: number;
  /** Why the newest attempt failed: a sentence. */
  readonly reason?: string;
}

/** Deliveries on record, by key: `<endpoint>:<event id>`. */
export interface Deliveries {
  /** Puts one on record, unless it is there already; gives its key. */
  add(delivery: Delivery): Promise<string>;
  read(key: string): Promise<Delivery | undefined>;
  update(key: string, delivery: Delivery): Promise<void>;
  /** The keys of what is still to be told to a receiver. */
  list(endpoint: string): AsyncIterable<string>;
  end(key: string): Promise<void>;
  giveUp(key: string, delivery: Delivery): Promise<void>;
  /** What was given up within the last month. */
  givenUp(): AsyncIterable<Delivery>;
  /** Forgets that a delivery was given up. */
  forget(delivery: Delivery): Promise<void>;
}

const DAY_MS = 24 * 60 * 60_000;
/** Receivers that are taken out of the site are not told any more: what waits for them lapses. */
const WAITING_MS = 7 * DAY_MS;
const GIVEN_UP_MS = 30 * DAY_MS;

export function createDeliveries(store: Store): Deliveries {
  const keyOf = ({ endpoint, event }: Delivery): string => `${endpoint}:${event.id}`;
  return {
    async add(delivery) {
      const key = keyOf(delivery);
      await store.putIfAbsent(`webhook:${key}`, delivery, WAITING_MS);
      return key;
    },
    read: (key) => store.get<Delivery>(`webhook:${key}`),
    update: (key, delivery) => store.set(`webhook:${key}`, delivery, WAITING_MS),
    async *list(endpoint) {
      for await (const key of store.keys(`webhook:${endpoint}:`)) yield key.slice("webhook:".length);
    },
    end: (key) => store.delete(`webhook:${key}`, "lazy"),
    async giveUp(key, delivery) {
      await store.set(`webhook-given-up:${key}`, delivery, GIVEN_UP_MS);
      await store.delete(`webhook:${key}`);
    },
    async *givenUp() {
      for await (const key of store.keys("webhook-given-up:")) {
        const delivery = await store.get<Delivery>(key);
        if (delivery) yield delivery;
      }
    },
    forget: (delivery) => store.delete(`webhook-given-up:${keyOf(delivery)}`),
  };
}
