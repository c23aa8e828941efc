import type { Clock, Log } from "../../api/capabilities.ts";
import { type BookTally, LATENCY_BOUNDS_MS } from "./events.ts";
import { createGatherer } from "./gatherer.ts";
import { createLateWrites } from "./late-writes.ts";

/** What identifies a tally, apart from the minute. */
export type TallyNames = Pick<BookTally, "service" | "door" | "rail" | "what">;
/** Where a call was made. */
export type CallNames = Omit<TallyNames, "what">;

/**
 * Counts calls in memory, and writes the counts every few seconds: a crash loses those of the last seconds. While the store
 * takes no writes, they wait.
 */
export interface Tallies {
  count(names: TallyNames): void;
  /** Counts a call that is over. @param ms its duration, for the bucket; undefined to leave that out */
  end(names: CallNames, whats: readonly string[], ms: number | undefined): void;
  /** Writes the counts. */
  flush(): Promise<void>;
}

export interface TalliesDeps {
  /** The store's `count`. */
  readonly store: { count(tallies: readonly BookTally[]): Promise<void> };
  /** Called with new counts, once, before they are written. */
  readonly onCounted?: ((tallies: readonly BookTally[]) => void) | undefined;
  /** Called with the duration of each call that is timed, at the latest when the counts are written. */
  readonly onTimed?: ((names: CallNames, ms: number) => void) | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

const MINUTE_MS = 60_000;
/** The most tallies that wait: those of hours. */
const MOST_WAITING = 10_000;
/** The most tallies per write, which blocks the event loop. */
const MOST_WRITTEN = 1000;

/** What is counted. */
interface Gathered {
  readonly at: number;
  readonly names: CallNames;
  readonly whats: readonly string[];
  readonly ms: number | undefined;
}

export function createTallies({ store, onCounted, onTimed, clock, log }: TalliesDeps): Tallies {
  /** Keyed by minute and names, so that a call costs one map look-up. */
  let counts: Counts = new Map();
  const waiting: Counts = new Map();
  const writes = createLateWrites(write, (error) => log.warn("books.tallies-wait", { error }));

  const gathered = createGatherer<Gathered>(({ at, names, whats, ms }) => {
    const { service, door, rail } = names;
    const minute = Math.floor(at / MINUTE_MS);
    for (const what of whats) add(counts, { minute, service, door, rail, what, count: 1 });
    if (ms === undefined) return;
    add(counts, { minute, service, door, rail, what: toBucket(ms), count: 1 });
    onTimed?.(names, ms);
  });

  function end(names: CallNames, whats: readonly string[], ms: number | undefined): void {
    gathered.add({ at: clock.now(), names, whats, ms });
    writes.later();
  }

  function gather(): void {
    gathered.work();
    const fresh = [...counts.values()];
    counts = new Map();
    if (fresh.length > 0) onCounted?.(fresh);
    for (const tally of fresh) add(waiting, tally);
  }

  async function write(): Promise<void> {
    gather();
    while (waiting.size > 0) {
      const some = [...waiting.values()].slice(0, MOST_WRITTEN);
      for (const tally of some) waiting.delete(keyOf(tally));
      await store.count(some).catch((error: unknown) => {
        for (const tally of some) add(waiting, tally);
        throw error;
      });
    }
  }

  return {
    count: (names) => end(names, [names.what], undefined),
    end,
    flush() {
      gather(); // At once: metrics are read after this call, not after the write.
      return writes.flush();
    },
  };
}

type Counts = Map<string, Counted>;

function add(counts: Counts, tally: BookTally): void {
  const key = keyOf(tally);
  const known = counts.get(key);
  if (known) known.count += tally.count;
  else if (counts.size < MOST_WAITING) counts.set(key, { ...tally });
}

const keyOf = ({ minute, door, rail, what, service }: BookTally): string =>
  `${minute} ${door} ${rail} ${what} ${service}`;

const toBucket = (ms: number): string => `ms:${LATENCY_BOUNDS_MS.find((bound) => ms <= bound) ?? "inf"}`;

interface Counted extends BookTally {
  count: number;
}
