import type { Clock, Log } from "../../api/capabilities.ts";
import { forgetBefore, forgetTalliesBefore } from "../../core/books/keeping.ts";
import { createTallies, type Tallies } from "../../core/books/tallies.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";

export interface BookkeepingDeps {
  readonly site: Pick<SiteManifest, "books">;
  readonly store: Pick<OpenStore, "forget" | "count">;
  readonly clock: Clock;
  readonly log: Log;
}

/** What a server does for the shop's book beside entering sales. */
export interface Bookkeeping {
  readonly tallies: Tallies;
  /** Begins to take out, once an hour, what the book need not keep. */
  start(): void;
  close(): Promise<void>;
}

const EVERY_MS = 60 * 60_000;
/** Between two steps, while there is more. */
const PAUSE_MS = 50;

export function createBookkeeping({ site, store, clock, log }: BookkeepingDeps): Bookkeeping {
  const tallies = createTallies({ store, clock, log });
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  async function tidy(): Promise<void> {
    const now = clock.now();
    const hasMore = await store
      .forget(forgetBefore(site.books, now), forgetTalliesBefore(now))
      .catch((error: unknown) => {
        log.warn("books.not-tidied", { error });
        return false;
      });
    if (!isClosed) timer = setTimeout(() => void tidy(), hasMore ? PAUSE_MS : EVERY_MS).unref();
  }

  return {
    tallies,
    start: () => void tidy(),
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await tallies.close();
    },
  };
}
