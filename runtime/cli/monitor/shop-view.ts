import { toAccount } from "../../core/account.ts";
import type { Books, Span } from "../../core/books/books.ts";
import { forgetBefore, forgetTalliesBefore } from "../../core/books/keeping.ts";
import { once } from "../../core/once.ts";
import type { Manifest, SiteManifest } from "../../core/set/manifest.ts";
import { restAfter } from "../../core/time/sweeper.ts";
import { treasuryAddresses } from "../../drivers/treasury.ts";
import type { AdminRequest } from "../../server/admin/routes.ts";
import { toLook } from "../../surfaces/pages/seller/look.ts";
import type { ShopView } from "../../surfaces/pages/seller/view.ts";
import type { Config } from "../config/config.ts";
import { createTallyHistory } from "./tally-history.ts";

/** The services that are being sold. */
export interface SoldServices {
  readonly services: readonly { readonly manifest: Manifest }[];
}

interface ShopViewsDeps {
  readonly sold: () => SoldServices & { readonly site: SiteManifest };
  readonly config: Pick<Config, "treasury">;
  readonly isSandbox: boolean;
}

/** What the seller's pages show of the shop. */
export interface ShopViews {
  /** The view of one page. @param books up to date */
  read(books: Books, request: Pick<AdminRequest, "path" | "query">): Promise<ShopView>;
  /** Reads ahead what the first page would wait for. */
  warm(books: Books): Promise<void>;
}

/** The pages that show tallies. */
const COUNTED = ["/", "/funnel", "/services"];
const MINUTE_MS = 60_000;
const NOBODY = { now: 0, before: 0 };

export function createShopViews({ sold, config, isSandbox }: ShopViewsDeps): ShopViews {
  const own = once(() => treasuryAddresses(config.treasury));
  const history = createTallyHistory(Date.now);
  const countBuyers = createBuyerCount();
  return {
    warm: history.warm,
    async read(books, { path, query }) {
      const now = Date.now();
      const over = toLook(query, now);
      const spans = { now: over.span, before: over.before };
      const isCounted = COUNTED.includes(path) || path.startsWith("/services/");
      const { site, services } = sold();
      const mine = [...new Set([...(site.books?.own ?? []), ...(await own())].map(toAccount))];
      const kept = { countsFrom: forgetTalliesBefore(now) * MINUTE_MS, linesFrom: forgetBefore(site.books, now) };
      const count = async (span: Span) => (span.from < kept.countsFrom ? undefined : history.read(books, span));
      const tallies = {
        now: isCounted ? await count(spans.now) : [],
        before: path === "/" ? await count(spans.before) : [],
      };
      const buyers =
        path === "/"
          ? { now: countBuyers(books, spans.now, mine), before: countBuyers(books, spans.before, mine) }
          : NOBODY;
      return {
        books,
        look: over,
        now,
        tallies,
        kept,
        buyers,
        own: mine,
        rails: site.rails,
        services: services.map(({ manifest }) => manifest),
        isSandbox,
      };
    },
  };
}

/** Counts the buyers of a span during a tenth of the time at most. In between, the last count is repeated. */
function createBuyerCount(): (books: Books, span: Span, own: readonly string[]) => number {
  const known = new Map<string, { readonly count: number; readonly until: number }>();
  return (books, span, own) => {
    const began = performance.now();
    for (const [key, { until }] of known) if (began >= until) known.delete(key);
    const key = `${span.from}-${span.to} ${own}`;
    const kept = known.get(key);
    if (kept) return kept.count;
    const count = books.countBuyers(span, own);
    known.set(key, { count, until: performance.now() + restAfter(began) });
    return count;
  };
}
