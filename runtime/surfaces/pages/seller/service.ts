import type { PriceChange } from "../../../core/notes/prices.ts";
import { type Html, html } from "../html.ts";
import { countsOf, toCount, toEarned, toQuantile, toShare, toTime, toUsd, withoutSignIns } from "./figures.ts";
import { toFigureTable, toLooks } from "./frame.ts";
import { toReasons, toSteps } from "./funnel.ts";
import { toRevenue } from "./revenue.ts";
import { toCached, toFailed, toOwnNote } from "./services.ts";
import type { ShopView } from "./view.ts";

/** One service: its revenue chart with price changes, its funnel and its figures. Undefined for an unknown service. */
export function toService(view: ShopView, id: string, prices: readonly PriceChange[]): Html | undefined {
  const { services, look, books, own, tallies } = view;
  const service = services.find((each) => each.id === id);
  const mine = books.sums(look.span, { own, by: ["service"] }).filter((sum) => sum.service === id);
  if (!service && prices.length === 0 && mine.length === 0) return undefined;
  const counted = withoutSignIns(tallies.now ?? [], services).filter((tally) => tally.service === id);
  const counts = countsOf(counted);
  const { sales, nano, own: ours } = toEarned(mine);
  const path = `/services/${encodeURIComponent(id)}`;
  const tile = (name: string, value: string): Html => html`<div class="tile"><dt>${name}</dt><dd>${value}</dd></div>`;
  return html`<h1>${service?.title ?? id}</h1>
<p class="lead"><code>${id}</code>, ${toPrice(service)}. <a href="/sales?service=${encodeURIComponent(id)}">Its sales</a></p>
${toLooks(path, view)}
<dl class="tiles">
${tile("Revenue", toUsd(nano))}
${tile("Sales", toCount(sales))}
${tile("Half answered in", toQuantile(counts, 0.5))}
${tile("99 of 100 in", toQuantile(counts, 0.99))}
${tile("Failed", toShare(...toFailed(counts)))}
${tile("From cache", toShare(...toCached(counts)))}
</dl>
${toOwnNote(ours)}
${toRevenue(view, { service: id, marks: toMarks(prices, view) })}
<h2>Its prices</h2>
${toFigureTable(
  "What was asked for it, newest first",
  ["From", "Price"],
  prices.toReversed().map(({ at, price }) => [toTime(at), price === null ? "free, or not sold" : `$${price}`]),
)}
${tallies.now && html`<h2>From the price to the sale</h2>\n${toSteps(counted)}\n${toReasons(counts)}`}`;
}

const toPrice = (service: { readonly price?: string } | undefined): string => {
  if (!service) return "not sold now";
  return service.price === undefined ? "free" : `$${service.price} a call`;
};

/** The price changes within the shown span; a service's first price is not a change. */
function toMarks(prices: readonly PriceChange[], { look: { span } }: ShopView): { at: number; text: string }[] {
  return prices
    .slice(1)
    .filter(({ at }) => at >= span.from && at < span.to)
    .map(({ at, price }) => ({ at, text: price === null ? "off" : `$${price}` }));
}
