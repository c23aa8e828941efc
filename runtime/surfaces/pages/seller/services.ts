import { type Html, html } from "../html.ts";
import { countsOf, NONE_NAMED, toCalls, toCount, toEarned, toProblems, toQuantile, toShare, toUsd } from "./figures.ts";
import { toFigureTable, toLooks } from "./frame.ts";
import type { ShopView } from "./view.ts";

/** The revenue, speed and failure rate of each service. */
export const toServicesView = (view: ShopView): Html => html`<h1>Services</h1>
<p class="lead">What each service did ${view.look.words}.</p>
${toLooks("/services", view)}
${toServiceTable(view)}
${toOwnNote(toEarned(view.books.sums(view.look.span, { own: view.own, by: [] })).own)}
<p class="quiet">p50, p95 and p99: so great a part of the answers came within this time. Failed: of the calls that were worked on, jobs included.
From cache: of what was read through a cache.</p>`;

/** What the figures leave out: payments of the seller's own wallets. */
export const toOwnNote = (own: number): Html | false =>
  own > 0 &&
  html`<p class="quiet">Payments of your own wallets: ${toCount(own)}. Revenue, sales and refunds are without them; calls, times and failures are not.</p>`;

/**
 * The services as a table, by revenue. @param most how many services with any activity are shown; when omitted, others are
 * as well, as many as keep the page below 100 kB
 */
export function toServiceTable({ books, own, services, look, tallies: counted }: ShopView, most?: number): Html {
  const sums = Map.groupBy(books.sums(look.span, { own, by: ["service"] }), ({ service }) => service);
  const tallies = Map.groupBy(counted.now ?? [], ({ service }) => service);
  const ids = [...new Set([...services.map(({ id }) => id), ...sums.keys(), ...tallies.keys()])];
  const total = toEarned([...sums.values()].flat()).nano;
  const rows = ids
    .map((id) => ({ id, earned: toEarned(sums.get(id) ?? []), counts: countsOf(tallies.get(id) ?? []) }))
    .filter(
      ({ earned, counts }) => most === undefined || earned.sales !== 0 || earned.refunds > 0 || toCalls(counts) > 0,
    )
    .sort((one, other) => Number(other.earned.nano - one.earned.nano) || other.earned.sales - one.earned.sales)
    .slice(0, most ?? MOST);
  const prices = new Map(services.map(({ id, price }) => [id, price === undefined ? FREE : `$${price}`]));
  const table = toFigureTable(
    "Services, by what they earned",
    [
      "Service",
      "Price",
      "Calls",
      "Sales",
      "Revenue",
      "Share",
      "Sold of asked",
      ...SPEED,
      "Failed",
      "Refunds",
      "From cache",
    ],
    rows.map(({ id, earned, counts }) => [
      id === "" ? NONE_NAMED : html`<a href="/services/${encodeURIComponent(id)}?${look.query}">${id}</a>`,
      id === "" ? "–" : (prices.get(id) ?? "not sold now"),
      counted.now ? toCount(toCalls(counts)) : "–",
      toCount(earned.sales),
      toUsd(earned.nano),
      toShare(Number(earned.nano), Number(total)),
      toShare(earned.sales, prices.get(id) === FREE ? 0 : (counts.get("challenge") ?? 0)),
      ...PARTS.map((part) => toQuantile(counts, part)),
      toShare(...toFailed(counts)),
      toCount(earned.refunds),
      toShare(...toCached(counts)),
    ]),
  );
  if (most !== undefined || ids.length <= MOST) return table;
  return html`${table}<p>These are ${toCount(MOST)} of ${toCount(ids.length)}; <code>payphone sales --group service</code> lists all that sold.</p>`;
}

const MOST = 250;

const FREE = "free";
const PARTS = [0.5, 0.95, 0.99];
const SPEED = ["p50", "p95", "p99"];

/** The number of calls and jobs that failed on the shop's side, and of all calls that ran the service. */
export function toFailed(counts: ReadonlyMap<string, number>): [number, number] {
  const { failed } = toProblems(counts);
  return [failed + (counts.get("job:failed") ?? 0), failed + (counts.get("result") ?? 0) + (counts.get("free") ?? 0)];
}

/** The number of reads answered by a cache, and of all reads through a cache. */
export function toCached(counts: ReadonlyMap<string, number>): [number, number] {
  const hits = counts.get("cache:hit") ?? 0;
  return [hits, hits + (counts.get("cache:miss") ?? 0)];
}
