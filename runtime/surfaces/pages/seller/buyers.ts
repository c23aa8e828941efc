import { type Html, html } from "../html.ts";
import { toCount, toTime, toUsd } from "./figures.ts";
import { toFigureTable } from "./frame.ts";
import { toLines, toPayer } from "./sales.ts";
import type { ShopView } from "./view.ts";

const MOST = 100;
const LINES = 50;

/** Who has spent most. */
export function toBuyers({ books, own }: ShopView): Html {
  const rows = books
    .buyers(MOST)
    .map(({ payer, firstAt, lastAt, count, nanoUsd }) => [
      toPayer(payer, own),
      toTime(firstAt),
      toTime(lastAt),
      toCount(count),
      toUsd(nanoUsd),
    ]);
  return html`<h1>Buyers</h1>
<p class="lead">The ${MOST} who have spent most, in the whole book.</p>
${toFigureTable("Buyers, by what they spent", ["Payer", "First seen", "Last seen", "Calls", "Spent"], rows)}`;
}

/** What one wallet bought. Undefined for one that the book does not know. */
export function toBuyer(view: ShopView, payer: string): Html | undefined {
  const lines = view.books.lines({ payer }, { limit: LINES, order: "newest-first" });
  const [first] = view.books.lines({ payer }, { limit: 1, order: "oldest-first" });
  if (!first) return undefined;
  return html`<h1>Buyer</h1>
<p class="lead"><code>${payer}</code></p>
<p>First seen ${toTime(first.at)}. <a href="/sales?q=${encodeURIComponent(payer)}">All that it bought</a></p>
${toLines(lines, view)}
<h2>To sell it nothing any more</h2>
<p>Write its address into <code>_site.yaml</code>, and apply it:</p>
<pre>deny: ["${payer}"]</pre>
<pre>payphone apply</pre>`;
}
