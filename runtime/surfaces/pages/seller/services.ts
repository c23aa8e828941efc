import { type Html, html } from "../html.ts";
import { countsOf, sumOf, toCount, toEarned, toQuantile, toShare, toUsd } from "./figures.ts";
import { toFigureTable, toLooks } from "./frame.ts";
import type { ShopView } from "./view.ts";

/** What each service earns, how fast it is and how often it fails. */
export function toServicesView({ books, own, services, look, tallies: counted }: ShopView): Html {
  const sums = Map.groupBy(books.sums(look.span, { own, by: ["service"] }), ({ service }) => service);
  const tallies = Map.groupBy(counted.now, ({ service }) => service);
  const ids = [...new Set([...services.map(({ id }) => id), ...sums.keys(), ...tallies.keys()])];
  const total = toEarned([...sums.values()].flat()).nano;
  const rows = ids
    .map((id) => ({ id, earned: toEarned(sums.get(id) ?? []), counts: countsOf(tallies.get(id) ?? []) }))
    .sort((one, other) => Number(other.earned.nano - one.earned.nano) || other.earned.sales - one.earned.sales);
  const prices = new Map(services.map(({ id, price }) => [id, price === undefined ? "free" : `$${price}`]));
  return html`<h1>Services</h1>
<p class="lead">What each service did in ${look.words}.</p>
${toLooks("/services", look.days)}
${toFigureTable(
  "Services, by what they earned",
  ["Service", "Price", "Sales", "Revenue", "Share", "Sold of asked", "p50", "p95", "p99", "Failed", "Paid back"],
  rows.map(({ id, earned, counts }) => {
    const failed = sumOf(counts, "failed:");
    const worked = failed + (counts.get("result") ?? 0);
    return [
      html`<a href="/sales?service=${encodeURIComponent(id)}">${id}</a>`,
      prices.get(id) ?? "not sold now",
      toCount(earned.sales),
      toUsd(earned.nano),
      toShare(Number(earned.nano), Number(total)),
      toShare(earned.sales, counts.get("challenge") ?? 0),
      ...[0.5, 0.95, 0.99].map((part) => toQuantile(counts, part)),
      toShare(failed, worked),
      toCount(earned.refunds),
    ];
  }),
)}
<p class="quiet">p50, p95 and p99: so great a part of the answers came within this time.</p>`;
}
