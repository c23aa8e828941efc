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
${toLooks("/", look, view.now)}
${toLive("_empty", isNew && EMPTY)}
${toLive(
  "_tiles",
  html`<dl class="tiles">
${tile("Revenue", toUsd(now.nano), toUsd(then.nano))}
${tile("Calls", toCount(now.calls), toCount(then.calls))}
${tile("Sales", toCount(now.sales), toCount(then.sales))}
${tile("Buyers", toCount(now.buyers), toCount(then.buyers))}
${tile("Failed calls", toCount(now.failures), toCount(then.failures))}
${(hasJobs || now.failedJobs + then.failedJobs > 0) && tile("Failed jobs", toCount(now.failedJobs), toCount(then.failedJobs))}
${tile("Paid back", toUsd(now.refundedNano), toUsd(then.refundedNano))}
${tile("Owed back", owed === undefined ? "?" : toCount(owed))}
</dl>
${now.own > 0 && html`<p class="quiet">Payments of your own wallets: ${toCount(now.own)}. They are among the calls, and in no other figure here.</p>`}`,
)}
${toRevenue(view)}
<h2>What sold best</h2>
${toLive("_best", toServiceTable(view, look.query.startsWith("month=") ? ALL : BEST))}
<p><a href="/services?${look.query}">All services</a></p>
${toLive("_fees", toFeesPaid(view))}`;
}

const EMPTY = html`<div class="empty"><p><strong>Nothing was sold yet.</strong> Be your own first buyer:
<code>payphone call &lt;service&gt;</code> pays from a wallet, and in the sandbox from one that is full.</p>
<p>What your own wallets pay is marked, and left out of the revenue: <code>books.own</code> in <code>_site.yaml</code>.</p></div>`;

const toTroubles = (troubles: readonly Trouble[]): Html => html`<div class="troubles" role="alert">
<h2>Wants you</h2>
<ul>${troubles.map(({ what, mend }) => html`<li>${what}<br><code>${mend}</code></li>\n`)}</ul></div>`;

function figuresOf({ books, own, look, tallies, buyers }: ShopView, when: "now" | "before") {
  const span = when === "now" ? look.span : look.before;
  const counts = countsOf(tallies[when]);
  const failures = toProblems(counts).failed;
  const failedJobs = counts.get("job:failed") ?? 0;
  return {
    ...toEarned(books.sums(span, { own, by: [] })),
    buyers: buyers[when],
    calls: toCalls(counts),
    failures,
    failedJobs,
  };
}
