import { type Html, type HtmlPart, html } from "../html.ts";
import { toMoneyNotice, toPagePolicy } from "../page.ts";
import { offeredLooks } from "./look.ts";
import type { ShopView } from "./view.ts";

/** The parts of every page of the seller. */
export interface SellerFrame {
  /** The site's name for people. */
  readonly site: string;
  readonly isSandbox: boolean;
  readonly isTest: boolean;
  /** The time of the page, in words. */
  readonly madeAt: string;
}

/** The six views and their paths. */
export const VIEWS = [
  ["/", "Today"],
  ["/funnel", "Funnel"],
  ["/services", "Services"],
  ["/sales", "Sales"],
  ["/buyers", "Buyers"],
  ["/jobs", "Jobs and refunds"],
] as const;

/** The path of these pages' files. */
export const ASSETS = "/assets/";

/** The search is a form. */
export const SELLER_POLICY: string = toPagePolicy("'self'");

export interface SellerPage {
  readonly title: string;
  /** The path of the view that the page belongs to. */
  readonly path: string;
  readonly main: HtmlPart;
}

export function toSellerPage(
  { site, isSandbox, isTest, madeAt }: SellerFrame,
  { title, path, main }: SellerPage,
): string {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<title>${title} - ${site}</title>
<link rel="icon" href="${ASSETS}icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="${ASSETS}look.css">
<link rel="stylesheet" href="${ASSETS}uplot.css">
<link rel="stylesheet" href="${ASSETS}seller.css">
<script type="module" src="${ASSETS}seller.js"></script>
</head>
<body>
<a class="skip" href="#_main">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><img src="${ASSETS}icon.svg" alt="" width="28" height="28">${site}: the books</a>
<nav aria-label="Views">
${VIEWS.map(([to, name]) => html`<a href="${to}"${to === path && html` aria-current="page"`}>${name}</a>\n`)}</nav>
</header>
${toMoneyNotice({ isSandbox, isTest })}
<main id="_main">
${main}
</main>
<footer class="foot">Times are UTC. This page was made at <time>${madeAt}</time>. <span id="_live" role="status"></span></footer>
</body>
</html>
`.markup;
}

/** The page shown while this machine's copy of the book is being built. @param taken entries read so far; 0 when few */
export const toWaiting = (title: string, taken: number): Html => html`<h1>${title}</h1>
<p role="status">This machine has no copy of the book yet, and is making one${taken > 0 && `: ${taken.toLocaleString("en-US")} entries so far`}.
A million sales take a minute or two. The page comes by itself.</p>`;

/** The page shown while its figures cannot be read. @param why a sentence */
export const toUnread = (title: string, why: string): Html => html`<h1>${title}</h1>
<div class="troubles" role="alert"><h2>This cannot be read now</h2>
<p>${why}<br><code>payphone status</code></p></div>`;

/** The page of a sale, buyer, job or service of which nothing is known. */
export const toMissing = (title: string): Html => html`<h1>${title}</h1>
<p>Nothing of that name is known here. It may have been mistyped, or is not kept any more: <a href="/sales">search the sales</a>.</p>`;

/** Links to the same page for other spans, and what is missing in this one. */
export function toLooks(path: string, { look, now, kept }: Pick<ShopView, "look" | "now" | "kept">): Html {
  const from = path === "/" ? look.before.from : look.span.from;
  const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);
  return html`<p class="looks">${offeredLooks(look, now).map(
    ({ query, name }) =>
      html`<a href="${path}?${query}"${query === look.query && html` aria-current="true"`}>${name}</a>\n`,
  )}</p>
${from < kept.countsFrom && html`<p class="quiet">Calls are counted for 90 days: those before ${dayOf(kept.countsFrom)}, and what failed of them, are not known any more.</p>`}
${from < kept.linesFrom && html`<p class="quiet">Sales before ${dayOf(kept.linesFrom)} are not kept (<code>books.keep_days</code>), and in no figure here.</p>`}`;
}

/** A section that the script refreshes while the page is visible. */
export const toLive = (id: string, content: HtmlPart): Html => html`<section id="${id}" data-live>${content}</section>`;

/** A table that scrolls sideways when it is too wide. @param empty the text shown when there are no rows */
export function toFigureTable(
  caption: string,
  heads: readonly string[],
  rows: readonly (readonly HtmlPart[])[],
  empty = "Nothing yet.",
): Html {
  if (rows.length === 0) return html`<p class="quiet">${empty}</p>`;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${caption}"><table>
<caption><span>${caption}</span></caption>
<thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead>
<tbody>
${rows.map((row) => html`<tr>${row.map(toCell)}</tr>\n`)}</tbody>
</table></div>`;
}

/** A longer text in a cell is a sentence, and may wrap. */
const LONGEST_NAME = 24;

/** Only the last column has sentences. */
const toCell = (cell: HtmlPart, at: number, row: readonly HtmlPart[]): Html =>
  html`<td${at === row.length - 1 && isLong(cell) && html` class="prose"`}>${cell}</td>`;

const isLong = (cell: HtmlPart): boolean => typeof cell === "string" && cell.length > LONGEST_NAME;

/** A line chart, with its values in a table for people who cannot see it. */
export interface Chart {
  readonly title: string;
  /** The name of the values. */
  readonly label: string;
  readonly points: readonly { readonly at: number; readonly value: number; readonly text: string }[];
  /** Whether a point is a day, not an hour. */
  readonly byDay: boolean;
  /** Of the first day, what came before this time is not counted. */
  readonly from: number;
  /** Events marked on the line, such as a change of price, oldest first. */
  readonly marks?: readonly { readonly at: number; readonly text: string }[];
}

export function toChart({ title, label, points, byDay, from, marks = [] }: Chart): Html {
  // The newest point stands for what came after it as well; of several marks at a point the last is shown.
  const marked = new Map(marks.map(({ at, text }) => [points.findLast((point) => point.at <= at)?.at ?? at, text]));
  const plot = {
    label,
    byDay,
    at: points.map(({ at }) => at / 1000),
    values: points.map(({ value }) => value),
    marks: [...marked].map(([at, text]) => ({ at: at / 1000, text })),
  };
  const name = (at: number): string =>
    new Date(at)
      .toISOString()
      .slice(0, byDay ? 10 : 16)
      .replace("T", " ");
  const cut = (at: number): string => (at < from ? `, from ${new Date(from).toISOString().slice(11, 16)}` : "");
  return html`<figure class="chart">
<figcaption>${title}</figcaption>
<div class="plot" data-plot="${JSON.stringify(plot)}"></div>
<details><summary>The figures</summary>
${toFigureTable(
  title,
  [byDay ? "Day" : "Hour", label],
  points.map(({ at, text }) => [name(at) + cut(at), text]),
)}
</details>
</figure>`;
}
