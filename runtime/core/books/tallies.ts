import type { Clock, Log } from "../../api/capabilities.ts";
import { type BookTally, LATENCY_BOUNDS_MS } from "./events.ts";
import { createGatherer } from "./gatherer.ts";

/** What identifies a tally, apart from the minute. */
export type TallyNames = Pick<BookTally, "service" | "door" | "rail" | "what">;

/** Counts calls in memory, and writes the counts every few seconds: a crash loses those of the last seconds. */
export interface Tallies {
  count(names: TallyNames): void;
  /** Counts a call in the bucket of its duration. */
  time(names: Omit<TallyNames, "what">, ms: number): void;
  /** Writes the counts. */
  flush(): Promise<void>;
}

export interface TalliesDeps {
  /** The store's `count`. */
  readonly store: { count(tallies: readonly BookTally[]): Promise<void> };
  readonly clock: Clock;
  readonly log: Log;
}

/** The interval of the writes. */
const EVERY_MS = 5000;
const MINUTE_MS = 60_000;
/** The most tallies per write: far more than any set has. */
const MOST_NAMES = 10_000;

/** What is counted. */
interface Gathered {
  readonly at: number;
  readonly names: Omit<TallyNames, "what">;
  /** The duration of a call that is timed, in milliseconds. */
  readonly what: string | number;
}

/** The timer runs only while there is something to write. */
export function createTallies({ store, clock, log }: TalliesDeps): Tallies {
  /** Keyed by minute and names, so that a call costs one map look-up. */
  let counts = new Map<string, Counted>();
  let timer: NodeJS.Timeout | undefined;

  const gathered = createGatherer<Gathered>(({ at, names, what }) =>
    add(Math.floor(at / MINUTE_MS), names, typeof what === "number" ? toBucket(what) : what),
  );

  function gather(names: Gathered["names"], what: Gathered["what"]): void {
    gathered.add({ at: clock.now(), names, what });
    timer ??= setTimeout(() => void flush(), EVERY_MS).unref();
  }

  function add(minute: number, { service, door, rail }: Gathered["names"], what: string): void {
    const key = `${minute} ${door} ${rail} ${what} ${service}`;
    const known = counts.get(key);
    if (known) known.count += 1;
    else if (counts.size < MOST_NAMES) counts.set(key, { minute, service, door, rail, what, count: 1 });
  }

  async function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    gathered.work();
    if (counts.size === 0) return;
    const written = counts;
    counts = new Map();
    await store.count([...written.values()]).catch((error: unknown) => {
      log.warn("books.tallies-lost", { error, calls: written.size });
    });
  }

  return {
    count: (names) => gather(names, names.what),
    time: gather,
    flush,
  };
}

const toBucket = (ms: number): string => `ms:${LATENCY_BOUNDS_MS.find((bound) => ms <= bound) ?? "inf"}`;

interface Counted extends BookTally {
  count: number;
}
