import { PATHS } from "../../../core/paths.ts";
import type { Service } from "../../../core/service.ts";
import { OTHER } from "../../openapi/operations.ts";
import { type Html, html } from "../html.ts";
import { toHeading, toPriceText } from "../page.ts";

/** The services by group. The groups are in alphabetical order. */
export function toGroups(services: readonly Service[]): readonly (readonly [heading: string, Service[]])[] {
  const groups = Map.groupBy(services, ({ manifest }) => manifest.category ?? OTHER);
  return [...groups.keys()].sort().map((group) => [toHeading(group), groups.get(group) ?? []] as const);
}

/** The address of a service's page: in a folder of its own where its id could be the name of a script or style. */
export const toPageAddress = (id: string): string => PATHS.assets + (/\.(?:css|js)$/i.test(id) ? "services/" : "") + id;

/** The text that the search looks through: small letters without accents. */
export const toSearchText = ({ manifest: { id, title, description, tags }, path }: Service): string =>
  [id, title, description, path, ...tags].join(" ").normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();

/** The search field; shown by the script. */
export const toSearch = (): Html => html`<search hidden id="_search">
<label for="_filter">Find a service</label>
<input id="_filter" type="search" autocomplete="off" spellcheck="false">
<output for="_filter" id="_count"></output>
</search>`;

/** The most services beside the page of one: all of a thousand would make a gigabyte of pages. */
const MOST_BESIDE = 100;

/**
 * The list of services beside a page, collapsed on small screens: all, or those around the page's own. Only all can be
 * searched: of a part it would say that there is nothing else.
 * @param current the page's service
 */
export function toSidebar(services: readonly Service[], current?: Service): Html {
  const middle = current ? services.indexOf(current) - MOST_BESIDE / 2 : 0;
  const from = Math.max(0, Math.min(middle, services.length - MOST_BESIDE));
  const shown = current ? services.slice(from, from + MOST_BESIDE) : services;
  const isCut = shown.length < services.length;
  const groups = toGroups(shown).map(
    ([heading, members], at) => html`<div class="group"><p class="heading" id="_side-${at}">${heading}</p>
<ul aria-labelledby="_side-${at}">${members.map((service) => toEntry(service, service === current))}</ul></div>`,
  );
  return html`<details class="side"><summary>${isCut ? "Services" : "All services"}</summary>
${current !== undefined && !isCut && toSearch()}
<nav aria-label="Services">${groups}${isCut && html`<p><a href="${PATHS.explorer}">All ${services.length} services</a></p>`}</nav>
</details>`;
}

function toEntry(service: Service, isCurrent: boolean): Html {
  const { id, title, price } = service.manifest;
  const mark = isCurrent && html` aria-current="page"`;
  return html`<li class="entry" data-search="${toSearchText(service)}"><a href="${toPageAddress(id)}"${mark}>${title}</a> <span class="price">${toPriceText(price)}</span></li>`;
}
