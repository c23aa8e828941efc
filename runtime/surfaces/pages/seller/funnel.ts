import type { TallySum } from "../../../core/books/books.ts";
import { type Html, html } from "../html.ts";
import { countsOf, NONE_NAMED, sumOf, toCount, toProblems, toShare, withoutSignIns } from "./figures.ts";
import { toFigureTable, toLooks } from "./frame.ts";
import { toFailureMeaning, toRefusalMeaning } from "./meanings.ts";
import type { ShopView } from "./view.ts";

/** The funnel from the challenge to the sale, and why payments were refused. */
export function toFunnel(view: ShopView): Html {
  const tallies = view.tallies.now && withoutSignIns(view.tallies.now, view.services);
  const head = html`<h1>Funnel</h1>
<p class="lead">From the price to the sale, ${view.look.words}.</p>
${toLooks("/funnel", view)}`;
  if (!tallies) return head;
  const all = countsOf(tallies);
  return html`${head}
${toSteps(tallies)}
${toReasons(all)}
${(["service", "door", "rail"] as const).map(
  (by) => html`<h2>By ${by}</h2>
${toSplit(tallies, by)}`,
)}`;
}

/** Calls with a new payment. Calls that ask again for what was already bought do not count. */
const attemptsOf = (counts: ReadonlyMap<string, number>): number =>
  Math.max(0, (counts.get("attempt") ?? 0) - (counts.get("replay") ?? 0) - (counts.get("early") ?? 0));

/** The steps to a sale, and how many calls reached each. */
export function toSteps(tallies: readonly TallySum[]): Html {
  const counts = countsOf(tallies);
  const get = (what: string): number => counts.get(what) ?? 0;
  const [told, replays, sold] = [get("challenge"), get("replay"), get("result")];
  const attempts = attemptsOf(counts);
  const refused = sumOf(counts, "refused:");
  // A payment that is not refused names a rail; calls without one had nothing to sell.
  const paid = countsOf(tallies.filter(({ rail }) => rail !== ""));
  const { failed, turnedAway } = toProblems(paid);
  const lost = [
    [paid.get("left") ?? 0, "left before the money moved"],
    [turnedAway, "were turned away"],
    [failed, "failed"],
  ] as const;
  const steps = [
    { name: "Told the price", count: told, note: "calls without a payment" },
    {
      name: "Came with a payment",
      count: attempts,
      note: `${toShare(attempts, told)} of those who were told the price`,
    },
    { name: "Payment not refused", count: Math.max(0, attempts - refused), note: `${toCount(refused)} were refused` },
    {
      name: "Sold",
      count: sold,
      note: lost.map(([count, what]) => `${toCount(count)} ${what}`).join(", "),
    },
    {
      name: "Got the answer",
      count: Math.max(0, sold - get("gone")),
      note: `${toCount(get("gone"))} had gone when it was ready; ${toCount(replays)} answers were fetched again, at no charge`,
    },
  ];
  const most = Math.max(1, ...steps.map(({ count }) => count));
  return html`<ol class="funnel">
${steps.map(
  ({ name, count, note }) =>
    html`<li><span>${name}</span><strong>${toCount(count)}</strong>${toBar(count, most)}<small>${note}</small></li>\n`,
)}</ol>
${get("free") > 0 && html`<p class="quiet">${toCount(get("free"))} free calls were answered besides.</p>`}`;
}

/** Browsers' own meters may have an empty part that is brighter than the other. */
const toBar = (count: number, most: number): Html =>
  html`<svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true"><rect class="all" width="100" height="1"/><rect class="part" width="${(100 * count) / most}" height="1"/></svg>`;

/** Why nothing was sold, and what each reason means. */
export const toReasons = (counts: ReadonlyMap<string, number>): Html => html`<h2>Why payments were refused</h2>
${toFigureTable(
  "Refused payments: buyers saw the reason in a 402, and nobody was charged",
  ["Reason", "Times", "What it means"],
  reasonsOf(counts, "refused:").map(([reason, count]) => [
    html`<code>${reason}</code>`,
    toCount(count),
    toRefusalMeaning(reason),
  ]),
)}
<h2>What was turned away, or failed</h2>
${toFigureTable(
  "4xx: turned away; 5xx: failed; nobody was charged unless it says so",
  ["Problem", "Times", "What buyers saw"],
  reasonsOf(counts, "failed:").map(([code, count]) => [
    html`<code>${code}</code>`,
    toCount(count),
    toFailureMeaning(code),
  ]),
)}`;

const reasonsOf = (counts: ReadonlyMap<string, number>, word: string): [string, number][] =>
  [...counts]
    .flatMap(([what, count]): [string, number][] => (what.startsWith(word) ? [[what.slice(word.length), count]] : []))
    .sort(([, one], [, other]) => other - one);

function toSplit(tallies: readonly TallySum[], by: "service" | "door" | "rail"): Html {
  const rows = [...Map.groupBy(tallies, (tally) => tally[by])]
    .map(([name, inside]) => {
      const counts = countsOf(inside);
      const [sold, asked] = [counts.get("result") ?? 0, counts.get("challenge") ?? 0];
      return { name, counts, sold, asked, problems: toProblems(counts) };
    })
    .filter(
      ({ name, asked, counts, problems }) =>
        name !== "" || asked + (counts.get("attempt") ?? 0) + problems.turnedAway > 0,
    )
    .sort((one, other) => other.sold - one.sold);
  return toFigureTable(
    `Calls by ${by}`,
    [by, "told the price", "with a payment", "refused", "left", "turned away", "failed", "sold"],
    rows.map(({ name, counts, sold, asked, problems }) => [
      name === "" ? NONE_NAMED : name,
      toCount(asked),
      toCount(attemptsOf(counts)),
      toCount(sumOf(counts, "refused:")),
      toCount(counts.get("left") ?? 0),
      toCount(problems.turnedAway),
      toCount(problems.failed),
      toCount(sold),
    ]),
  );
}
