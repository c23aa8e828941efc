import { Keyv } from "keyv";
import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { toDamaged } from "../../core/damage.ts";
import type { CreateLimiter } from "../../core/limiter.ts";
import type { Durability, Store } from "../../core/store.ts";
import { createMemoryLimiter } from "../memory-limiter.ts";

/** An open store, which must be closed. */
export interface OpenStore extends Store {
  /** Limiters that count across all processes that share the store, if these may be on several machines. */
  readonly createLimiter: CreateLimiter;
  /** Resolves when the store answers and may be used. @throws Problem `unavailable`. */
  ping(): Promise<void>;
  /**
   * Deletes some older lines and tallies from the book. @param before lines: Unix milliseconds, 0 for none
   * @param tallyMinute tallies: minutes since the Unix epoch. @returns whether more is left
   */
  forget(before: number, tallyMinute: number): Promise<boolean>;
  /** Sentences for the operator about what the store may lose, as of the last ping or later. */
  warnings(): readonly string[];
  /** Finishes the calls made so far. Afterwards every call rejects with Problem `unavailable`. */
  close(): Promise<void>;
}

/** The part of Keyv's adapter interface that is used. Values are JSON texts; only the adapter handles expiry. */
export interface TextAdapter {
  get(key: string): Promise<string | undefined>;
  set(key: string, text: string, ttlMs?: number): Promise<unknown>;
  delete(key: string): Promise<boolean>;
}

type Entered = Parameters<Store["enter"]>[0];

/** Operations that Keyv does not have. Keys and texts are already checked. */
export interface Atomics
  extends Pick<OpenStore, "join" | "leave" | "count" | "forget" | "ping" | "close">,
    Partial<Pick<OpenStore, "warnings">> {
  putIfAbsent(key: string, text: string, ttlMs: number | undefined, durability: Durability): Promise<boolean>;
  renew(key: string, text: string, ttlMs: number | undefined, durability: Durability): Promise<boolean>;
  drop(key: string, text: string, durability: Durability): Promise<unknown>;
  /** undefined when the value of the key is not an integer. */
  incr(key: string, by: number, ttlMs: number | undefined, durability: Durability): Promise<number | undefined>;
  /** Writes a text and enters an event, both or neither; an event that exists is not entered again. */
  enter(event: Entered, key: string, text: string, ttlMs: number | undefined, durability: Durability): Promise<void>;
  /** One page of the keys that begin with `prefix`, from `cursor` on; the last page has no `next`. */
  page(
    prefix: string,
    cursor: string | undefined,
  ): Promise<{ readonly keys: readonly string[]; readonly next?: string }>;
  /** Why the store must not be used now although it answers. */
  fault?(): Problem | undefined;
  /** Default: in memory. */
  readonly createLimiter?: CreateLimiter;
}

/** How long the operator is told of a damaged record after it was last seen. */
const TOLD_MS = 60 * 60_000;
const LONGEST_KEY = 512;
/** More than a hundred years, and less than the limit of any store. */
const LONGEST_TTL_MS = 2 ** 42;

/**
 * A Store made of Keyv and `Atomics`. Calls take effect in the order in which they were made, awaited or not: Keyv
 * passes a value on one microtask after `set` was called, so that all other calls wait for one microtask, too.
 */
export function toStore(adapt: (durability: Durability) => TextAdapter, log: Log, atomics: Atomics): OpenStore {
  const keyvs = { durable: toKeyv(adapt("durable")), lazy: toKeyv(adapt("lazy")) };
  /** Until when the operator is told of each record that could not be read: it may be mended meanwhile. */
  const damaged = new Map<string, number>();
  let closing: Promise<void> | undefined;

  async function read<T>(key: string): Promise<T | undefined> {
    try {
      const value = await keyvs.durable.get<T>(checkKey(key));
      if (damaged.size > 0) damaged.delete(key);
      return value;
    } catch (error) {
      const { message } = error as Error;
      if (!(error instanceof SyntaxError) && !/^WRONGTYPE\b/.test(message)) throw error;
      if (!damaged.has(key)) log.error("store.damaged", { record: key, reason: message });
      damaged.set(key, performance.now() + TOLD_MS);
      throw toDamaged(key, message);
    }
  }

  function damages(): readonly string[] {
    const now = performance.now();
    const count = [...damaged.values()].filter((until) => until > now).length;
    if (count === 0) return [];
    return [
      `${count === 1 ? "A record" : `${count} records`} in the store cannot be read: the log says which (store.damaged)`,
    ];
  }

  async function attempt<T>(work: () => Promise<T>): Promise<T> {
    if (closing) throw new Problem("unavailable", "The store is closed");
    try {
      return await work();
    } catch (error) {
      if (error instanceof Problem || error instanceof TypeError) throw error;
      throw new Problem("unavailable", "The store cannot be reached", { cause: error, retryAfter: 1 });
    }
  }
  const reach = <T>(work: () => Promise<T>): Promise<T> =>
    attempt(() => {
      const fault = atomics.fault?.();
      if (fault) throw fault;
      return work();
    });
  const reachInTurn = <T>(work: () => Promise<T>): Promise<T> =>
    reach(async () => {
      await null;
      return work();
    });

  const remove = (key: string, durability: Durability = "durable"): Promise<void> =>
    reachInTurn(async () => void (await keyvs[durability].delete(checkKey(key))));

  return {
    createLimiter: atomics.createLimiter ?? createMemoryLimiter,
    get: <T>(key: string) => reachInTurn(() => read<T>(key)),
    set: (key, value, ttlMs, durability = "durable") =>
      value === undefined
        ? remove(key, durability)
        : reach(async () => void (await keyvs[durability].set(checkKey(key), value, toTtl(ttlMs)))),
    delete: remove,
    putIfAbsent: (key, value, ttlMs, durability = "durable") =>
      reach(async () => {
        const text = toText(value); // At once: the caller may change the value after this call.
        await null;
        return atomics.putIfAbsent(checkKey(key), text, toTtl(ttlMs), durability);
      }),
    renew: (key, value, ttlMs, durability = "durable") =>
      reach(async () => {
        const text = toText(value); // At once, as above.
        await null;
        return atomics.renew(checkKey(key), text, toTtl(ttlMs), durability);
      }),
    drop: (key, value, durability = "durable") =>
      reach(async () => {
        const text = toText(value); // At once, as above.
        await null;
        await atomics.drop(checkKey(key), text, durability);
      }),
    incr: (key, by = 1, ttlMs, durability = "durable") =>
      reachInTurn(async () => {
        if (!Number.isSafeInteger(by)) throw new TypeError(`a counter grows by whole numbers, not by ${by}`);
        const sum = await atomics.incr(checkKey(key), by, toTtl(ttlMs), durability);
        if (sum === undefined) throw new TypeError(`"${key}" does not hold an integer`);
        return sum;
      }),
    join: (key, member, weight, ttlMs) =>
      reachInTurn(async () => {
        if (!Number.isSafeInteger(weight)) throw new TypeError(`a weight is a whole number, not ${weight}`);
        return atomics.join(checkKey(key), checkKey(member), weight, toTtl(ttlMs) ?? LONGEST_TTL_MS);
      }),
    leave: (key, member) => reachInTurn(() => atomics.leave(checkKey(key), checkKey(member))),
    enter: (event, { key, value, ttlMs, durability = "durable" }) =>
      reach(async () => {
        const text = toText(value); // At once, as above.
        await null;
        return atomics.enter(event, checkKey(key), text, toTtl(ttlMs), durability);
      }),
    count: (tallies) => reach(() => atomics.count(tallies)),
    forget: (before, tallyMinute) => reach(() => atomics.forget(before, tallyMinute)),
    async *keys(prefix) {
      const seen = new Set<string>(); // Redis may name a key twice.
      let cursor: string | undefined;
      do {
        const page = await reachInTurn(() => atomics.page(prefix, cursor));
        for (const key of page.keys) if (seen.size < seen.add(key).size) yield key;
        cursor = page.next;
      } while (cursor !== undefined);
    },
    ping: () => attempt(atomics.ping), // `ping` looks for the fault again.
    warnings: () => [...(atomics.warnings?.() ?? []), ...damages()],
    close() {
      closing ??= Promise.resolve().then(() => atomics.close());
      return closing;
    },
  };
}

const toKeyv = (adapter: TextAdapter): Keyv =>
  new Keyv({
    store: { ...adapter, clear: refuseClear },
    useKeyPrefix: false,
    throwOnErrors: true,
    serialize: ({ value }) => toText(value),
    deserialize: <T>(text: string) => ({ value: JSON.parse(text) as T }),
  });

/** Keyv requires `clear` of every adapter, but a store that holds money is never emptied. */
const refuseClear = (): Promise<void> => Promise.reject(new TypeError("a store is never cleared"));

/** Rejects keys that some store could confuse with another key. */
function checkKey(key: string): string {
  if (key.length > LONGEST_KEY) throw new TypeError(`a key has at most ${LONGEST_KEY} characters`);
  if (!key.isWellFormed()) throw new TypeError("a key is well-formed Unicode");
  return key;
}

function toText(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) throw new TypeError(`${typeof value} is not JSON`);
  return text;
}

/** Whole milliseconds; a TTL of 0 or less becomes 1, since 0 means "for ever" to Keyv. */
function toTtl(ttlMs: number | undefined): number | undefined {
  if (ttlMs === undefined || ttlMs === Number.POSITIVE_INFINITY) return undefined;
  if (Number.isNaN(ttlMs)) throw new TypeError("a time to live is a number");
  return Math.min(Math.max(1, Math.ceil(ttlMs)), LONGEST_TTL_MS);
}
