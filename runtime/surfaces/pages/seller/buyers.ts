import type { BuyerRefusals } from "../../../core/notes/refusals.ts";
import { type Html, html } from "../html.ts";
import { toCount, toTime, toUsd } from "./figures.ts";
import { toFigureTable } from "./frame.ts";
import { toFailureMeaning, toRefusalMeaning } from "./meanings.ts";
import { toLines, toPayer } from "./sales.ts";
import type { ShopView } from "./view.ts";

const MOST = 100;
const LINES = 50;

/** The buyers that spent most, and the payers whose payments were refused. */
export function toBuyers({ books, own }: ShopView, refusals: readonly BuyerRefusals[]): Html {
  const refused = new Map(refusals.map((each) => [each.payer, each]));
  const buyers = books.buyers(MOST);
  const rows = buyers.map(({ payer, firstAt, lastAt, count, nanoUsd }) => [
    toPayer(payer, own),
    toTime(firstAt),
    toTime(lastAt),
    toCount(count),
    toUsd(nanoUsd),
    toTimes(refused.get(payer)),
  ]);
  return html`<h1>Buyers</h1>
<p class="lead">The ${MOST} who have spent most, in the whole book; refusals and failures of the last 90 days.</p>
${toFigureTable("Buyers, by what they spent", ["Payer", "First seen", "Last entry", "Sales", "Spent", "Refused or failed"], rows)}
<h2>Who was refused, or met a failure</h2>
${toFigureTable(
  "The latest first; nobody was charged for these calls unless it says so",
  ["Payer", "Last", "Times", "Why"],
  refusals
    .slice(0, MOST)
    .map((each) => [toPayer(each.payer, own), toTime(each.lastAt), toTimes(each), toReasons(each)]),
)}
<p class="quiet">Who pays is what the payment says: only where its signature was good is that proven.</p>`;
}

const sumOf = ({ counts }: BuyerRefusals): number => Object.values(counts).reduce((sum, count) => sum + count, 0);
const toTimes = (refusals: BuyerRefusals | undefined): string => toCount(refusals ? sumOf(refusals) : 0);

/** The reasons and their counts: `insufficient_funds (3), invalid_signature (1)`. */
const toReasons = ({ counts }: BuyerRefusals): string =>
  Object.entries(counts)
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => `${toReason(what)} (${toCount(count)})`)
    .join(", ");

const toReason = (what: string): string => what.slice(what.indexOf(":") + 1);

/** The purchases and refusals of one wallet; undefined for an unknown wallet. */
export function toBuyer(view: ShopView, payer: string, refusals: BuyerRefusals | undefined): Html | undefined {
  const lines = view.books.lines({ payer }, { limit: LINES, order: "newest-first" });
  const [first] = view.books.lines({ payer }, { limit: 1, order: "oldest-first" });
  if (!first && !refusals) return undefined;
  return html`<h1>Buyer</h1>
<p class="lead"><code>${payer}</code></p>
${
  first
    ? html`<p>First seen ${toTime(first.at)}. <a href="/sales?q=${encodeURIComponent(payer)}">All that it bought</a></p>
${toLines(lines, view)}`
    : html`<p>It has bought nothing so far.</p>`
}
${refusals && toRefusals(refusals)}
<h2>To sell it nothing any more</h2>
<p>Write its address into <code>_site.yaml</code>, and apply it:</p>
<pre tabindex="0">deny: [${JSON.stringify(payer)}]</pre>
<pre tabindex="0">payphone apply</pre>`;
}

const toRefusals = (refusals: BuyerRefusals): Html => html`<h2>Why it was refused, or what failed</h2>
${toFigureTable(
  `In the last 90 days; last ${toTime(refusals.lastAt)}`,
  ["Reason", "Times", "What it means"],
  Object.entries(refusals.counts)
    .sort(([, one], [, other]) => other - one)
    .map(([what, count]) => [
      html`<code>${toReason(what)}</code>`,
      toCount(count),
      what.startsWith("refused:") ? toRefusalMeaning(toReason(what)) : toFailureMeaning(toReason(what)),
    ]),
)}`;
