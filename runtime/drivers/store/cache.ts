import type { Cache, Cached, Clock, Log } from "../../api/capabilities.ts";
import { sha256 } from "../../core/digest.ts";
import type { Store } from "../../core/store.ts";
import { createSingleFlight } from "../../core/time/single-flight.ts";
import { noteCacheRead } from "./cache-reads.ts";

export interface CacheOptions {
  readonly store: Store;
  /** The plugin's name. */
  readonly namespace: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The stored form of a value. */
interface Entry {
  readonly value: unknown;
  readonly stored_at: number;
  readonly ttl_ms: number;
}

const PLAIN_KEY = /^[\w.:/-]{1,200}$/;

/**
 * A plugin's cache in the store. A failing store is treated as an empty one: the failure is logged, and the caller gets
 * its value. Every caller, the first included, gets the value as it reads after a round trip through JSON.
 */
export function createCache({ store, namespace, clock, log }: CacheOptions): Cache {
  const share = createSingleFlight<string>();

  return {
    async get<T>(key: string) {
      const known = await read<T>(toName(key));
      noteCacheRead(known !== undefined);
      return known;
    },
    set: (key, value, ttlMs) => write(toName(key), value, ttlMs),
    remember: async <T>(
      key: string,
      { ttlMs, signal }: { readonly ttlMs: number; readonly signal: AbortSignal },
      produce: (signal: AbortSignal) => Promise<T>,
    ) => {
      const name = toName(key);
      let isHit = true;
      const make = (shared: AbortSignal): Promise<string> =>
        recall(name, ttlMs, () => {
          isHit = false;
          return produce(shared);
        });
      const text = await share(name, signal, make);
      noteCacheRead(isHit);
      return JSON.parse(text) as Cached<T>;
    },
  };

  /** The cached or produced value, as the JSON text of a Cached. */
  async function recall(name: string, ttlMs: number, produce: () => Promise<unknown>): Promise<string> {
    const known = await read(name, ttlMs);
    if (known) return JSON.stringify(known);
    const value = await produce();
    const storedAt = clock.now();
    await write(name, value, ttlMs);
    return JSON.stringify({ value, storedAt });
  }

  async function read<T>(name: string, maxAgeMs = Number.POSITIVE_INFINITY): Promise<Cached<T> | undefined> {
    const entry = await store.get<Entry>(name).catch((error: unknown) => {
      log.warn("cache.unread", { namespace, error });
    });
    if (!entry) return undefined;
    const ageMs = Math.abs(clock.now() - entry.stored_at); // Absolute: a clock that was set back extends nothing.
    if (ageMs >= Math.min(entry.ttl_ms, maxAgeMs)) return undefined;
    return { value: entry.value as T, storedAt: entry.stored_at };
  }

  async function write(name: string, value: unknown, ttlMs: number): Promise<void> {
    const entry: Entry = { value, stored_at: clock.now(), ttl_ms: ttlMs };
    await store.set(name, entry, ttlMs, "lazy").catch((error: unknown) => {
      log.warn("cache.unwritten", { namespace, error });
    });
  }

  /** Maps keys of any length and content to store keys, without collisions. */
  function toName(key: string): string {
    return `cache:${namespace}:${PLAIN_KEY.test(key) ? key : `#${sha256(JSON.stringify(key))}`}`;
  }
}
