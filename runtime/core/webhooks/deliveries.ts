import { unlessDamaged } from "../damage.ts";
import { isObject } from "../json.ts";
import type { Store } from "../store.ts";
import type { WebhookEvent } from "./events.ts";

/** An event that a receiver has not accepted yet. */
export interface Delivery {
  readonly endpoint: string;
  readonly event: WebhookEvent;
  /** When it was recorded: Unix milliseconds. */
  readonly since: number;
  readonly failures: number;
  /** When the next attempt may run: Unix milliseconds. */
  readonly notBefore: number;
  /** Why the last attempt failed: a sentence. */
  readonly reason?: string;
}

/** The records of deliveries, by key: `<endpoint>:<event id>`. Those that are damaged are passed over. */
export interface Deliveries {
  /** Records a delivery, unless it is on record already; returns its key. */
  add(delivery: Delivery): Promise<string>;
  read(key: string): Promise<Delivery | undefined>;
  update(key: string, delivery: Delivery): Promise<void>;
  /** The keys of the waiting deliveries of a receiver. */
  list(endpoint: string): AsyncIterable<string>;
  end(key: string): Promise<void>;
  giveUp(key: string, delivery: Delivery): Promise<void>;
  /** The deliveries that were given up within the last month. */
  givenUp(): AsyncIterable<Delivery>;
  /** Removes a given-up delivery. */
  forget(delivery: Delivery): Promise<void>;
}

/**
 * A month. Deliveries wait so long for a shop that stands still, or for a receiver that was removed from the site; those
 * that were given up are kept as long.
 */
const KEEP_MS = 30 * 24 * 60 * 60_000;

export function createDeliveries(store: Store): Deliveries {
  const keyOf = ({ endpoint, event }: Delivery): string => `${endpoint}:${event.id}`;
  const readIntact = async (key: string): Promise<Delivery | undefined> => {
    const delivery = await store.get<unknown>(key).catch(unlessDamaged);
    return isDelivery(delivery) ? delivery : undefined;
  };
  return {
    async add(delivery) {
      const key = keyOf(delivery);
      await store.putIfAbsent(`webhook:${key}`, delivery, KEEP_MS);
      return key;
    },
    read: (key) => readIntact(`webhook:${key}`),
    update: (key, delivery) => store.set(`webhook:${key}`, delivery, KEEP_MS),
    async *list(endpoint) {
      for await (const key of store.keys(`webhook:${endpoint}:`)) yield key.slice("webhook:".length);
    },
    end: (key) => store.delete(`webhook:${key}`, "lazy"),
    async giveUp(key, delivery) {
      await store.set(`webhook-given-up:${key}`, delivery, KEEP_MS);
      await store.delete(`webhook:${key}`);
    },
    async *givenUp() {
      for await (const key of store.keys("webhook-given-up:")) {
        const delivery = await readIntact(key);
        if (delivery) yield delivery;
      }
    },
    forget: (delivery) => store.delete(`webhook-given-up:${keyOf(delivery)}`),
  };
}

const isDelivery = (record: unknown): record is Delivery =>
  isObject(record) &&
  typeof record.endpoint === "string" &&
  isObject(record.event) &&
  typeof record.event.id === "string" &&
  typeof record.event.at === "number" &&
  [record.since, record.failures, record.notBefore].every((number) => typeof number === "number");
