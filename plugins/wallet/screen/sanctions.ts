import { type Host, Problem, type Upstream, type UpstreamStream } from "#plugin";
import { type Corpus, type Listings, toCorpus, toListings } from "./corpus.ts";
import { FLOOR } from "./floor.ts";
import type { SdnEntry, SdnList } from "./sdn.ts";

/** The sanctions list's result for one address. */
export interface SanctionsFinding {
  /** The entries that name the address; usually none. */
  readonly entries: readonly SdnEntry[];
  readonly corpus: Pick<Corpus, "version" | "published">;
  /** False when OFAC's list was never read, or not for a week. A missing entry then proves nothing. */
  readonly isCurrent: boolean;
}

/** OFAC's list of Specially Designated Nationals, refreshed in the background. */
export interface Sanctions {
  /** @param key as `readAddress` gives it. */
  search(key: string): Promise<SanctionsFinding>;
}

/** The corpus in use. */
interface Held {
  readonly corpus: Corpus;
  readonly listings: Listings;
  /** Milliseconds since the Unix epoch; 0 for the floor. In the future where the clock was wrong, and was set back. */
  readonly readAt: number;
}

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const STALE_AFTER_MS = 7 * DAY_MS;
const KEPT_MS = 365 * DAY_MS;
/** The file has 30 MB (2026) and grows. */
const MAX_BYTES = 256 * 1024 * 1024;
const KEY = "screen:sdn-1";

/**
 * Every hour, takes over a newer list from the shared store, and downloads OFAC's list when the newest is a day old. A
 * truncated, malformed, suspiciously small or older file is refused, and the last good list stays in use.
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
    if (Math.abs(now - held.readAt) < DAY_MS) return;
    const next = hold(toCorpus(await download(source, signal), "ofac-sdn"), now);
    refuseSuspicious(next, held);
    held = next;
    await cache.set(KEY, next.corpus, KEPT_MS);
    log.info("screen.list-read", { version: next.corpus.version, addresses: next.listings.size });
  }

  schedule.every("ofac", HOUR_MS, refresh);
  return {
    async search(key) {
      restored ??= restore();
      await restored; // A new process can then search the last good list at once.
      const { corpus, listings, readAt } = held;
      return { entries: listings.get(key) ?? [], corpus, isCurrent: Math.abs(clock.now() - readAt) < STALE_AFTER_MS };
    },
  };
}

const hold = (corpus: Corpus, readAt: number): Held => ({ corpus, listings: toListings(corpus), readAt });

async function download(source: Upstream, signal: AbortSignal): Promise<SdnList> {
  const { readSdn } = await import("./sdn.ts"); // Loads the XML parser on first use.
  try {
    return await readSdn(bodyOf(await source.stream("", { signal, maxBytes: MAX_BYTES })));
  } catch (cause) {
    if (cause instanceof Problem || signal.aborted) throw cause;
    throw new Problem("upstream-failed", "OFAC's list could not be read to its end", { cause });
  }
}

/** The body of a 200. The body of any other answer is not read, which releases the connection. */
async function* bodyOf({ status, body }: UpstreamStream): AsyncGenerator<Uint8Array> {
  for await (const bytes of body) {
    if (status !== 200) throw new Problem("upstream-failed", `OFAC's list was answered with status ${status}`);
    yield bytes;
  }
}

/**
 * Refuses a list with less than half of the addresses, because OFAC never removes so many at once, and one that was published
 * before the last good one, such as an old copy from a cache. One dated in the future would make later ones look old.
 */
function refuseSuspicious(next: Held, last: Held): void {
  const refuse = (reason: string): never => {
    throw new Problem("upstream-failed", `OFAC's list ${reason}`);
  };
  const [published, before] = [next.corpus.published, last.corpus.published];
  if (published < before) refuse(`of ${published} is older than that of ${before}`);
  if (!(Date.parse(published) <= next.readAt + DAY_MS)) refuse(`is dated ${published}, a day that has not been`);
  if (next.listings.size * 2 < last.listings.size)
    refuse(`has shrunk to less than half: ${next.listings.size} addresses instead of ${last.listings.size}`);
}
