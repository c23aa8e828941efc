import type { TallySum } from "../../../core/books/books.ts";
import { type Html, html } from "../html.ts";
import { countsOf, sumOf, toCount, toShare } from "./figures.ts";
import { toFigureTable, toLooks } from "./frame.ts";
import { toFailureMeaning, toRefusalMeaning } from "./meanings.ts";
import type { ShopView } from "./view.ts";

/** From the challenge to the sale, and why others did not buy. */
export function toFunnel({ tallies: { now: tallies }, look }: ShopView): Html {
  const all = countsOf(tallies);
  const steps = stepsOf(all);
  const most = Math.max(1, ...steps.map(({ count }) => count));
  return html`<h1>Funnel</h1>
<p class="lead">From the price to the sale, in ${look.words}.</p>
${toLooks("/funnel", look.days)}
<ol class="funnel">
${steps.map(
  ({ name, count, note }) =>
    html`<li><span>${name}</span><strong>${toCount(count)}</strong><meter min="0" max="${most}" value="${count}">${count}</meter><small>${note}</small></li>\n`,
)}</ol>
<h2>Why payments were refused</h2>
${toFigureTable(
  "Refused payments: nobody was charged",
  ["Reason", "Times", "What it means"],
  reasonsOf(all, "refused:").map(([reason, count]) => [
    html`<code>${reason}</code>`,
    toCount(count),
    toRefusalMeaning(reason),
  ]),
)}
<h2>What failed</h2>
${toFigureTable(
  "Failed calls: nobody was charged but where it says so",
  ["Problem", "Times", "What buyers saw"],
  reasonsOf(all, "failed:").map(([code, count]) => [
    html`<code>${code}</code>`,
    toCount(count),
    toFailureMeaning(code),
  ]),
)}
${(["service", "door", "rail"] as const).map(
  (by) => html`<h2>By ${by}</h2>
${toSplit(tallies, by)}`,
)}`;
}

/** Calls with a payment, however they ended. */
const stepsOf = (counts: ReadonlyMap<string, number>) => {
  const get = (what: string): number => counts.get(what) ?? 0;
  const verified = get("attempt") - sumOf(counts, "refused:");
  const sold = get("result");
  return [
    { name: "Told the price", count: get("challenge"), note: "calls without a payment" },
    { name: "Came with a payment", count: get("attempt"), note: toShare(get("attempt"), get("challenge")) },
    { name: "Payment good", count: verified, note: toShare(verified, get("attempt")) },
    {
      name: "Got an answer",
      count: sold + get("replay"),
      note: `${toCount(get("replay"))} of them again, at no charge`,
    },
    { name: "New answers", count: sold, note: `${toShare(sold, get("challenge"))} of those who were told the price` },
  ];
};

const reasonsOf = (counts: ReadonlyMap<string, number>, word: string): [string, number][] =>
  [...counts]
    .flatMap(([what, count]): [string, number][] => (what.startsWith(word) ? [[what.slice(word.length), count]] : []))
    .sort(([, one], [, other]) => other - one);

function toSplit(tallies: readonly TallySum[], by: "service" | "door" | "rail"): Html {
  const groups = [...Map.groupBy(tallies, (tally) => tally[by])].map(([name, inside]) => ({
    name,
    counts: countsOf(inside),
  }));
  const rows = groups
    .map(({ name, counts }) => ({ name, counts, sold: counts.get("result") ?? 0, asked: counts.get("challenge") ?? 0 }))
    .sort((one, other) => other.sold - one.sold);
  return toFigureTable(
    `Calls by ${by}`,
    [by, "told the price", "with a payment", "refused", "failed", "new answers"],
    rows.map(({ name, counts, sold, asked }) => [
      name === "" ? "none named" : name,
      toCount(asked),
      toCount(counts.get("attempt") ?? 0),
      toCount(sumOf(counts, "refused:")),
      toCount(sumOf(counts, "failed:")),
      toCount(sold),
    ]),
  );
}
