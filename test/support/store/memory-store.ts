import type { BookEvent, BookTally } from "../../../runtime/core/books/events.ts";
import type { FeeEvent } from "../../../runtime/core/books/fees.ts";
import type { Store } from "../../../runtime/core/store.ts";

/** What the store holds, for tests to look at. */
export interface MemoryBook {
  readonly entries: Map<string, unknown>;
  /** The events of the book, by id. */
  readonly events?: Map<string, BookEvent>;
  /** Fees, by their transactions. */
  readonly fees?: Map<string, FeeEvent>;
  readonly tallies?: BookTally[];
}

/** A Store in memory with an injected clock, for tests about time and for the bench. */
export function createMemoryStore(now: () => number = Date.now): Store & MemoryBook {
  const held = new Map<string, { text: string; until: number }>();
  const check = (key: string): string => {
    if (key.length > 512 || !key.isWellFormed())
      throw new TypeError("a key has at most 512 characters, all well-formed");
    return key;
  };
  const read = (key: string): string | undefined => {
    const entry = held.get(check(key));
    return entry && entry.until > now() ? entry.text : undefined;
  };
  const write = (key: string, value: unknown, ttlMs = Number.POSITIVE_INFINITY): void => {
    held.set(check(key), { text: JSON.stringify(value), until: now() + ttlMs });
  };
  /** The members of each key, so that a tally does not look at what else is held. */
  const joined = new Map<string, Set<string>>();
  const toMemberKey = (key: string, member: string): string => `${key}\0${member}`;
  const events = new Map<string, BookEvent>();
  const fees = new Map<string, FeeEvent>();
  const tallies: BookTally[] = [];
  return {
    entries: held,
    events,
    fees,
    tallies,
    async enter(event, { key, value, ttlMs }) {
      write(key, value, ttlMs);
      if (event.kind === "fee") {
        if (!fees.has(event.transaction)) fees.set(event.transaction, event);
      } else if (!events.has(event.id)) events.set(event.id, event);
    },
    count: async (more) => void tallies.push(...more),
    get: async <T>(key: string) => {
      const text = read(key);
      return text === undefined ? undefined : (JSON.parse(text) as T);
    },
    set: async (key, value, ttlMs) => write(key, value, ttlMs),
    delete: async (key) => void held.delete(key),
    async putIfAbsent(key, value, ttlMs) {
      if (read(key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    async incr(key, by = 1, ttlMs) {
      const known = read(key);
      const sum = Number(known ?? 0) + by;
      const until = known === undefined ? now() + (ttlMs ?? Number.POSITIVE_INFINITY) : held.get(key)!.until;
      held.set(key, { text: String(sum), until });
      return sum;
    },
    async join(key, member, weight, ttlMs) {
      write(toMemberKey(key, member), weight, ttlMs);
      const members = joined.get(key) ?? new Set();
      joined.set(key, members.add(member));
      const weights = [...members].map((one) => read(toMemberKey(key, one))).filter((text) => text !== undefined);
      return { members: weights.length, weight: weights.reduce((sum, text) => sum + Number(text), 0) };
    },
    async leave(key, member) {
      held.delete(toMemberKey(key, member));
      joined.get(key)?.delete(member);
    },
    async *keys(prefix) {
      for (const key of [...held.keys()]) if (key.startsWith(prefix) && read(key) !== undefined) yield key;
    },
  };
}
