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
  /** Who has joined, by key. */
  readonly members?: ReadonlyMap<string, unknown>;
}

/** Values are JSON; those that cannot be changed are kept as they are, others as text. */
interface Held {
  readonly value?: string | number | boolean | null;
  readonly text?: string;
  /** Unix milliseconds. */
  readonly until: number;
}

/** The members of a key, with the sum of their weights, so that only expired members are looked at. */
interface Group {
  readonly members: Map<string, { readonly weight: number; readonly until: number }>;
  weight: number;
  /** Nobody has expired before: Unix milliseconds. */
  soonest: number;
}

/** A Store in memory with an injected clock, for tests about time and for the bench. */
export function createMemoryStore(now: () => number = Date.now): Store & MemoryBook {
  const held = new Map<string, Held>();
  const check = (key: string): string => {
    if (key.length > 512 || !key.isWellFormed())
      throw new TypeError("a key has at most 512 characters, all well-formed");
    return key;
  };
  const read = (key: string): Held | undefined => {
    const entry = held.get(check(key));
    return entry && entry.until > now() ? entry : undefined;
  };
  const write = (key: string, value: unknown, ttlMs = Number.POSITIVE_INFINITY): void => {
    if (value === undefined) held.delete(check(key));
    else held.set(check(key), toHeld(value, now() + ttlMs));
  };
  const groups = new Map<string, Group>();
  const remove = (group: Group, member: string): void => {
    group.weight -= group.members.get(member)?.weight ?? 0;
    group.members.delete(member);
  };
  const expire = (group: Group, at: number): void => {
    if (at < group.soonest) return;
    for (const [member, { until }] of group.members) if (until <= at) remove(group, member);
    group.soonest = Math.min(...[...group.members.values()].map(({ until }) => until));
  };
  const events = new Map<string, BookEvent>();
  const fees = new Map<string, FeeEvent>();
  const tallies: BookTally[] = [];
  return {
    entries: held,
    events,
    fees,
    tallies,
    members: groups,
    async enter(event, { key, value, ttlMs }) {
      write(key, value, ttlMs);
      if (event.kind === "fee") {
        if (!fees.has(event.transaction)) fees.set(event.transaction, event);
      } else if (!events.has(event.id)) events.set(event.id, event);
    },
    count: async (more) => void tallies.push(...more),
    get: async <T>(key: string) => {
      const entry = read(key);
      return (entry?.text === undefined ? entry?.value : JSON.parse(entry.text)) as T | undefined;
    },
    set: async (key, value, ttlMs) => write(key, value, ttlMs),
    delete: async (key) => void held.delete(key),
    async putIfAbsent(key, value, ttlMs) {
      if (read(key) !== undefined) return false;
      write(key, value, ttlMs);
      return true;
    },
    async renew(key, value, ttlMs) {
      const [known, same] = [read(key), toHeld(value, 0)];
      const isFree = !known || (known.value === same.value && known.text === same.text);
      if (isFree) write(key, value, ttlMs);
      return isFree;
    },
    async drop(key, value) {
      const [known, same] = [read(key), toHeld(value, 0)];
      if (known && known.value === same.value && known.text === same.text) held.delete(key);
    },
    async incr(key, by = 1, ttlMs) {
      const known = read(key);
      const sum = Number(known?.value ?? 0) + by;
      held.set(key, { value: sum, until: known?.until ?? now() + (ttlMs ?? Number.POSITIVE_INFINITY) });
      return sum;
    },
    async join(key, member, weight, ttlMs) {
      const group = groups.get(key) ?? { members: new Map(), weight: 0, soonest: Number.POSITIVE_INFINITY };
      groups.set(key, group);
      const until = now() + ttlMs;
      remove(group, member);
      group.members.set(check(member), { weight, until });
      group.weight += weight;
      group.soonest = Math.min(group.soonest, until);
      expire(group, now());
      return { members: group.members.size, weight: group.weight };
    },
    async leave(key, member) {
      const group = groups.get(key);
      if (group) remove(group, member);
      if (group?.members.size === 0) groups.delete(key);
    },
    async *keys(prefix) {
      for (const key of [...held.keys()]) if (key.startsWith(prefix) && read(key) !== undefined) yield key;
    },
  };
}

function toHeld(value: unknown, until: number): Held {
  const isPlain = typeof value === "string" || typeof value === "boolean" || value === null || Number.isFinite(value);
  if (isPlain) return { value: value as string | number | boolean | null, until }; // As it was just seen.
  return { text: JSON.stringify(value), until };
}
