import { PATHS } from "../../../core/paths.ts";
import { isTestSite } from "../../../core/rails/networks.ts";
import type { Service } from "../../../core/service.ts";
import type { ShownSet } from "../../schema/shown-set.ts";
import { type Html, html, toProse } from "../html.ts";
import { toPage, toPriceText } from "../page.ts";
import { toGroups, toPageAddress, toSearch, toSearchText, toSidebar } from "./sidebar.ts";

export interface DocsOptions extends ShownSet {
  /** Whether this is a sandbox: the money is play money. */
  readonly isSandbox: boolean;
}

/** `/docs`: every service with its price and one line. The page works without its script, which adds a search. */
export function toIndexPage({ services, site, baseUrl, isSandbox }: DocsOptions): Html {
  return toPage({
    title: `${site.title}: services`,
    description: site.description,
    url: baseUrl + PATHS.explorer,
    site: site.title,
    isSandbox,
    isTest: isTestSite(site),
    script: `${PATHS.assets}explorer.js`,
    aside: toSidebar(services),
    main: html`<h1>Services</h1>
<p class="lead">Each is one request, paid for by itself. Open one to try it: the first answer says what it costs.</p>
${toSearch()}
${toServiceLists(services)}`,
  });
}

/** The services by group, one line each. */
export const toServiceLists = (services: readonly Service[]): Html =>
  html`${toGroups(services).map(
    ([heading, members], at) => html`<section class="group" aria-labelledby="_group-${at}">
<h2 id="_group-${at}">${heading}</h2>
<ul class="services">${members.map(toLine)}</ul>
</section>
`,
  )}`;

function toLine(service: Service): Html {
  const { manifest, routes, path } = service;
  const { id, title, description, price } = manifest;
  const method = routes[0]?.method ?? "POST";
  return html`<li class="entry" data-search="${toSearchText(service)}"><a class="title" href="${toPageAddress(id)}">${title}</a> <span class="price">${toPriceText(price)}</span>
<p>${toProse(toFirstSentence(description))}</p> <p class="route"><b class="method">${method}</b> ${path}</p></li>`;
}

/** The first sentence of a description, or what fits one line of it: all before its colon, or as many words as possible. */
export function toFirstSentence(text: string): string {
  const [sentence = ""] = /^.*?[.!?](?=\s|$)/s.exec(text) ?? [text];
  if (sentence.length <= LONGEST_LINE) return sentence;
  const [beforeColon = ""] = sentence.split(/:\s/);
  if (beforeColon.length > LONGEST_LABEL && beforeColon.length < LONGEST_LINE) return `${beforeColon}.`;
  return `${sentence.slice(0, LONGEST_LINE).replace(/,?\s+\S*$/, "")} …`;
}

/** In characters, in a window of 1200 pixels. */
const LONGEST_LINE = 105;
/** What stands before a colon and is as short says nothing alone: "Beta: …". */
const LONGEST_LABEL = 20;
