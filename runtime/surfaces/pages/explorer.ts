import { PATHS } from "../../core/paths.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { OTHER } from "../openapi/operations.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";
import { toServiceEntry } from "./explorer-service.ts";
import { type Html, html, toDataBlock } from "./html.ts";
import { toHeading, toPage } from "./page.ts";

export interface ExplorerOptions {
  readonly services: readonly Service[];
  readonly site: SiteManifest;
  /** The set's schemas by name. */
  readonly schemas: ReadonlyMap<string, object>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly isSandbox: boolean;
}

/**
 * `/docs`: every service with its price, fields and examples. It is readable without its script, which filters, sends
 * requests, explains challenges and pays them.
 */
export function toExplorer({ services, site, schemas, baseUrl, isSandbox }: ExplorerOptions): Html {
  const inline = createSchemaInliner(services, schemas);
  const groups = Map.groupBy(services, ({ manifest }) => manifest.category ?? OTHER);
  return toPage({
    title: `${site.title}: services`,
    description: site.description,
    url: baseUrl + PATHS.explorer,
    site: site.title,
    isSandbox,
    isTest: isTestSite(site),
    script: `${PATHS.assets}explorer.js`,
    main: html`<h1>Services</h1>
<p class="lead">Each is one request, paid for by itself. Try one: the first answer says what it costs.</p>
<noscript><p class="notice">Without JavaScript this page can be read, and the snippets copied; trying a service needs it.</p></noscript>
<search hidden id="_search">
<label for="_filter">Filter services</label>
<input id="_filter" type="search" autocomplete="off" spellcheck="false">
<output for="_filter" id="_count"></output>
</search>
${[...groups.keys()].sort().map((group) => toGroup(group, groups.get(group) ?? []))}
<script type="application/json" id="_site">${toDataBlock(toFacts(site, isSandbox))}</script>`,
  });

  function toGroup(group: string, members: readonly Service[]): Html {
    return html`<section class="group" aria-labelledby="_group-${group}">
<h2 id="_group-${group}">${toHeading(group)}</h2>
${members.map((service) => toServiceEntry(service, { site, baseUrl, inline }))}
</section>
`;
  }
}

/** The facts that the script needs to explain offers. */
const toFacts = ({ rails }: SiteManifest, isSandbox: boolean): object => ({
  sandbox: isSandbox,
  rails: rails.map(({ title, network, asset, symbol, decimals, explorer }) => ({
    title,
    network,
    asset,
    symbol,
    decimals,
    explorer,
  })),
});
