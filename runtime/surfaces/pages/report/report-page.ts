import type { ReportFigure, ReportPage, ReportResult } from "../../../api/reports.ts";
import { PATHS } from "../../../core/paths.ts";
import { isTestSite } from "../../../core/rails/networks.ts";
import type { SiteManifest } from "../../../core/set/manifest.ts";
import { type Html, html } from "../html.ts";
import { toBrand, toMoneyNotice } from "../page.ts";
import { readAmounts, toAmount, toDecimals } from "./amounts.ts";
import { toReportBody } from "./markdown.ts";
import { createToReference, toCopy, toOutsideLink } from "./references.ts";
import { isDay } from "./table.ts";

export interface ReportPageOptions {
  readonly site: Pick<SiteManifest, "title" | "rails" | "contact">;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly isSandbox: boolean;
  /** The files of the pages by name: styles, and `icon.svg`. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

/** The styles that a report's page holds. */
const STYLES = ["look.css", "report.css"];

/**
 * Creates the pages of reports, in one look for all services. A page embeds its style, icon and pictures, so that a
 * saved page is complete. Only its script, which copies addresses, is loaded from the site.
 */
export function createToReportPage(options: ReportPageOptions): (page: ReportPage) => string {
  const { site, baseUrl, isSandbox, assets } = options;
  const style: Html = { markup: STYLES.map((name) => readAsset(assets, name).toString()).join("") };
  const icon = `data:image/svg+xml;base64,${readAsset(assets, "icon.svg").toString("base64")}`;
  const isTest = isTestSite(site);
  const toReference = createToReference(isSandbox ? { rails: [] } : site); // Public explorers do not know a sandbox's chains.

  return (page) => {
    const { markdown, results, note, files } = page;
    const figures = new Map(page.figures.map((figure) => [figure.under, toFigure(figure)]));
    const { title, plainTitle, blocks } = toReportBody(markdown, { toReference, figures });
    return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${plainTitle} - ${site.title}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
<script type="module" src="${baseUrl}${PATHS.assets}copy.js"></script>
</head>
<body>
<header class="top">${toBrand({ site: site.title, home: `${baseUrl}/`, icon })}<p class="signed">Signed report</p></header>
${toMoneyNotice({ isSandbox, isTest })}
<main>
<h1>${title}</h1>
${results.length > 0 && html`<dl class="results">${results.map(toResult)}</dl>`}
${note !== undefined && html`<p class="note">${note}</p>`}
<ul class="files" aria-label="Files">${files.map(({ name, url }) => html`<li><a class="button" href="${url}">${name}</a></li>`)}</ul>
${blocks}
${toProof(page)}
</main>
<footer>Made by <a href="${baseUrl}/">${site.title}</a>. Questions: <a href="${site.contact.url}">${site.contact.name}</a></footer>
</body>
</html>
`.markup;
  };

  function toProof({ files, proof }: ReportPage): Html {
    const hashes = files.map(({ name, sha256 }) => ({ term: `SHA-256 of ${name}`, value: sha256, url: undefined }));
    const lines = [...hashes, ...proof].map(({ term, value, url }) => {
      const isLinked = url !== undefined && !isSandbox;
      const shown = isLinked ? toLinked(url, value) : (toReference(value) ?? toPlainValue(value));
      return html`<dt>${term}</dt><dd>${shown}</dd>\n`;
    });
    return html`<section class="proof" aria-labelledby="_proof"><h2 id="_proof">Proof</h2>\n<dl>${lines}</dl></section>`;
  }
}

/** A link keeps its own explorer, whatever explorers the rails name. */
const toLinked = (url: string, value: string): Html => html`${toOutsideLink(url, value)}${toCopy(value)}`;

const toPlainValue = (value: string): Html =>
  html`<span class="plain">${value}</span>${value.length > SHORT && toCopy(value)}`;

/** Shorter values are words, which need no copy button. */
const SHORT = 20;

function toResult({ label, value, tone, meter }: ReportResult): Html {
  const amounts = readAmounts(value)?.map((amount) => toAmount(amount, toDecimals(amount)));
  const bar =
    meter !== undefined &&
    html`<svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" role="img" aria-label="${meter} of 100"><rect class="all" width="100" height="6" rx="3"/><rect class="part" width="${meter}" height="6" rx="3"/></svg>`;
  return html`<div${tone !== undefined && html` class="${tone}"`}><dt>${label}</dt><dd${isDay(value) && html` class="word"`}>${amounts ?? value}${bar}</dd></div>`;
}

function toFigure({ svg, narrow, caption }: ReportFigure): Html {
  const drawn: readonly Html[] =
    narrow === undefined
      ? [{ markup: svg }]
      : [html`<div class="broad">${{ markup: svg }}</div>`, html`<div class="narrow">${{ markup: narrow }}</div>`];
  return html`<figure>${drawn}${caption !== undefined && html`<figcaption>${caption}</figcaption>`}</figure>\n`;
}

function readAsset(assets: ReadonlyMap<string, Buffer>, name: string): Buffer {
  const found = assets.get(name);
  if (!found) throw new TypeError(`the assets have no ${name}`);
  return found;
}
