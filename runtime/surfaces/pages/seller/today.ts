import { type Html, html } from "../html.ts";
import { toFeesPaid } from "./fees-paid.ts";
import { countsOf, toCalls, toCount, toEarned, toProblems, toUsd } from "./figures.ts";
import { toLive, toLooks } from "./frame.ts";
import { toRevenue } from "./revenue.ts";
import { toServiceTable } from "./services.ts";
import type { ShopView, Trouble } from "./view.ts";

export interface TodayState {
  readonly troubles: readonly Trouble[];
  /** Refunds that are not paid yet; undefined when they cannot be read. */
  readonly owed: number | undefined;
}

/** How many services are shown. A month, which may be printed as a statement, shows all active ones. */
const BEST = 5;
const ALL = 10_000;

/** The revenue compared with the previous span, and what needs attention. */
export function toToday(view: ShopView, { troubles, owed }: TodayState): Html {
  const { look } = view;
  const hasJobs = view.services.some(({ job }) => job !== undefined);
  const now = figuresOf(view, "now");
  const then = figuresOf(view, "before");
  const isNew =
    now.sales + then.sales + now.own === 0 && view.books.lines({}, { limit: 1, order: "newest-first" }).length === 0;
  const tile = (name: string, value: string, was?: string): Html =>
    html`<div class="tile"><dt>${name}</dt><dd>${value}${was !== undefined && html`<small>${was} ${look.beforeWords}</small>`}</dd></div>`;
  return html`<h1>${look.query === "days=1" ? "Today" : `The shop ${look.words}`}</h1>
${toLive("_troubles", troubles.length > 0 && toTroubles(troubles))}
${toLooks("/", view)}
${toLive("_empty", isNew && EMPTY)}
${toLive(
  "_tiles",
  html`<dl class="tiles">
${tile("Revenue", toUsd(now.nano), toUsd(then.nano))}
${tile("Calls", toKept(now.calls), toKept(then.calls))}
${tile("Sales", toCount(now.sales), toCount(then.sales))}
${tile("Buyers", toCount(now.buyers), toCount(then.buyers))}
${tile("Failed calls", toKept(now.failures), toKept(then.failures))}
${(hasJobs || (now.failedJobs ?? 0) + (then.failedJobs ?? 0) > 0) && tile("Failed jobs", toKept(now.failedJobs), toKept(then.failedJobs))}
${tile("Paid back", toUsd(now.refundedNano), toUsd(then.refundedNano))}
${tile("Owed back", owed === undefined ? "?" : toCount(owed))}
</dl>
${now.own > 0 && html`<p class="quiet">Payments of your own wallets: ${toCount(now.own)}. Revenue, sales, buyers and what was paid back are without them; calls, failures, what is owed and fees are not.</p>`}`,
)}
${toRevenue(view)}
<h2>What sold best</h2>
${toLive("_best", toServiceTable(view, look.query.startsWith("month=") ? ALL : BEST))}
<p><a href="/services?${look.query}">All services</a></p>
${toLive("_fees", toFeesPaid(view))}`;
}

/** A dash where the counts are not kept any more. */
const toKept = (count: number | undefined): string => (count === undefined ? "–" : toCount(count));

const EMPTY = html`<div class="empty"><p><strong>Nothing was sold yet.</strong> Be your own first buyer:
<code>payphone call &lt;service&gt;</code> pays from a wallet, and in the sandbox from one that is full.</p>
<p>What your own wallets pay is marked, and left out of the revenue: <code>books.own</code> in <code>_site.yaml</code>.</p></div>`;

const toTroubles = (troubles: readonly Trouble[]): Html => html`<div class="troubles" role="alert">
<h2>Wants you</h2>
<ul>${troubles.map(({ what, mend }) => html`<li>${what}<br><code>${mend}</code></li>\n`)}</ul></div>`;

function figuresOf({ books, own, look, tallies, buyers }: ShopView, when: "now" | "before") {
  const span = when === "now" ? look.span : look.before;
  const kept = tallies[when];
  const counts = kept && countsOf(kept);
  return {
    ...toEarned(books.sums(span, { own, by: [] })),
    buyers: buyers[when],
    calls: counts && toCalls(counts),
    failures: counts && toProblems(counts).failed,
    failedJobs: counts && (counts.get("job:failed") ?? 0),
  };
}
