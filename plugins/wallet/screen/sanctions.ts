import { type Host, Problem, type Upstream, type UpstreamStream } from "#plugin";
import { type Corpus, type Listings, toCorpus, toListings } from "./corpus.ts";
import { FLOOR } from "./floor.ts";
import type { SdnEntry, SdnList } from "./sdn.ts";

/** What the sanctions list says of one address. */
export interface SanctionsFinding {
  /** The entries that name it; none, mostly. */
  readonly entries: readonly SdnEntry[];
  readonly corpus: Pick<Corpus, "version" | "published">;
  /** False while OFAC's list was never read, or not for a week: who is not on it is then not known to be clean. */
  readonly isCurrent: boolean;
}

/** OFAC's list of Specially Designated Nationals, kept up to date in the background. */
export interface Sanctions {
  /** @param key as `readAddress` gives it. */
  search(key: string): Promise<SanctionsFinding>;
}

/** A corpus that is searched now. */
interface Held {
  readonly corpus: Corpus;
  readonly listings: Listings;
  /** Milliseconds since the Unix epoch; 0 for the floor. */
  readonly readAt: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STALE_AFTER_MS = 7 * DAY_MS;
const KEPT_MS = 365 * DAY_MS;
/** The file has 30 MB (2026), and grows. */
const MAX_BYTES = 256 * 1024 * 1024;
const KEY = "screen:sdn-1";

/**
 * Every hour it looks whether another process has put a newer list into the store, and reads OFAC's own where the newest
 * is a day old. A file that is cut short, malformed or suspiciously small is refused, and the last good list stays.
 */
export function createSanctions(host: Pick<Host, "cache" | "clock" | "log" | "schedule" | "upstream">): Sanctions {
  const { cache, clock, log, schedule } = host;
  const source = host.upstream("ofac");
  let held = hold(FLOOR, 0);
  let restored: Promise<void> | undefined;

  async function restore(): Promise<void> {
    const stored = await cache.get<Corpus>(KEY);
    if (stored && stored.storedAt > held.readAt) held = hold(stored.value, stored.storedAt);
  }

  async function refresh(signal: AbortSignal): Promise<void> {
    await restore();
    const now = clock.now();
    if (now - held.readAt < DAY_MS) return;
    const next = hold(toCorpus(await download(source, signal), "ofac-sdn"), now);
    refuseShrunken(next, held);
    held = next;
    await cache.set(KEY, next.corpus, KEPT_MS);
    log.info("screen.list-read", { version: next.corpus.version, addresses: next.listings.size });
  }

  schedule.every("ofac", HOUR_MS, refresh);
  return {
    async search(key) {
      restored ??= restore();
      await restored; // a process that has just started already searches the last good list
      const { corpus, listings, readAt } = held;
      return { entries: listings.get(key) ?? [], corpus, isCurrent: clock.now() - readAt < STALE_AFTER_MS };
    },
  };
}

const hold = (corpus: Corpus, readAt: number): Held => ({ corpus, listings: toListings(corpus), readAt });

async function download(source: Upstream, signal: AbortSignal): Promise<SdnList> {
  const { readSdn } = await import("./sdn.ts"); // It brings an XML parser, which no start waits for.
  try {
    return await readSdn(bodyOf(await source.stream("", { signal, maxBytes: MAX_BYTES })));
  } catch (cause) {
    if (cause instanceof Problem || signal.aborted) throw cause;
    throw new Problem("upstream-failed", "OFAC's list could not be read to its end", { cause });
  }
}

/** The body of a 200; any other answer is left unread, which releases its connection. */
async function* bodyOf({ status, body }: UpstreamStream): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    if (status !== 200) throw new Problem("upstream-failed", `OFAC's list was answered with status ${status}`);
    yield bytes;
  }
}

/** Addresses are taken off the list now and then, never half of them at once. */
function refuseShrunken(next: Held, last: Held): void {
  if (next.listings.size * 2 >= last.listings.size) return;
  const sizes = `${next.listings.size} addresses instead of ${last.listings.size}`;
  throw new Problem("upstream-failed", `OFAC's list has shrunk to less than half: ${sizes}`);
}
