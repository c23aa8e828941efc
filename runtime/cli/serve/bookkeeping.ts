import type { Clock, Log } from "../../api/capabilities.ts";
import { forgetBefore, forgetTalliesBefore } from "../../core/books/keeping.ts";
import { createTallies, type Tallies, type TalliesDeps } from "../../core/books/tallies.ts";
import { createSaleAnswers } from "../../core/notes/answers.ts";
import { notePrices } from "../../core/notes/prices.ts";
import { createRefusals, type Refusals } from "../../core/notes/refusals.ts";
import type { CallCounters } from "../../core/payments/count-calls.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { pause } from "../../core/time/deadline.ts";
import { createRounds } from "../../core/time/rounds.ts";
import { inCall } from "../../drivers/store/cache-reads.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";

export interface BookkeepingDeps {
  readonly site: Pick<SiteManifest, "books">;
  readonly store: OpenStore;
  /** What all sets of the process count into; when omitted, this one counts for itself. */
  readonly refusals?: Refusals | undefined;
  readonly onCounted?: TalliesDeps["onCounted"];
  readonly onTimed?: TalliesDeps["onTimed"];
  readonly clock: Clock;
  readonly log: Log;
}

/** The server's upkeep of the book besides entering sales. */
export interface Bookkeeping {
  readonly counters: CallCounters & { readonly tallies: Tallies };
  /** Records the current prices, and starts to delete expired lines of the book once an hour. */
  start(services: readonly Pick<Service, "manifest">[]): void;
  /** Ends the upkeep, and writes what was counted; also again, since calls may still be counted. */
  close(): Promise<void>;
}

const EVERY_MS = 60 * 60_000;
/** The pause between two steps while there are more. */
const PAUSE_MS = 50;
/** The pause before prices that could not be recorded are recorded. */
const AGAIN_MS = 5000;

export function createBookkeeping({ site, store, clock, log, ...deps }: BookkeepingDeps): Bookkeeping {
  const tallies = createTallies({ ...deps, store, clock, log });
  const { refusals = createRefusals({ store, clock, log }) } = deps;
  const answers = createSaleAnswers({ store, clock, log });
  const closing = new AbortController();
  const tidying = createRounds(async () => {
    const now = clock.now();
    const hasMore = await store
      .forget(forgetBefore(site.books, now), forgetTalliesBefore(now))
      .catch((error: unknown) => {
        log.warn("books.not-tidied", { error });
        return false;
      });
    return hasMore ? PAUSE_MS : EVERY_MS;
  });

  /** Records the prices that are valid from `at` on; again and again, since a store may take no writes at a start. */
  async function keepPrices(services: readonly Pick<Service, "manifest">[], at: number): Promise<void> {
    const offered = services.map(({ manifest }) => manifest);
    const note = (): Promise<boolean> =>
      notePrices(store, offered, at).then(
        () => true,
        (error: unknown) => {
          log.warn("books.prices-wait", { error });
          return false;
        },
      );
    while (!(await note()) && (await pause(AGAIN_MS, closing.signal)));
  }

  return {
    counters: { tallies, refusals, answers, inCall },
    start(services) {
      void keepPrices(services, clock.now());
      tidying.start();
    },
    async close() {
      closing.abort();
      await Promise.all([tidying.close(), tallies.flush(), refusals.flush(), answers.flush()]);
    },
  };
}
