import { PATHS } from "../../../core/paths.ts";
import { sourceOf } from "../../../core/proxy/source.ts";
import { isTestSite } from "../../../core/rails/networks.ts";
import type { Service } from "../../../core/service.ts";
import { mediaOf, type SiteManifest } from "../../../core/set/manifest.ts";
import { amountOn, toDecimal } from "../../../core/set/price.ts";
import { OTHER } from "../../openapi/operations.ts";
import { isKept, KEPT, toQuota } from "../../rpc/cost.ts";
import { type DescribedField, toFields } from "../../schema/fields.ts";
import { needsOf, toShown } from "../../schema/joined.ts";
import { createSchemaInliner } from "../../schema/self-contained.ts";
import { toCode } from "../highlight.ts";
import { type Html, html, toDataBlock, toProse } from "../html.ts";
import { toHeading, toPage, toPriceText } from "../page.ts";
import { type Snippet, toSnippets } from "../snippets.ts";
import { type DocsOptions, toFirstSentence } from "./index-page.ts";
import { toPageAddress, toSidebar } from "./sidebar.ts";
import { toTryForm } from "./try-form.ts";

/**
 * The pages of all services, by path: price, input, output, and code that calls the service. Each page works without
 * its script, which sends requests, explains challenges and pays them.
 */
export function toServicePages(options: DocsOptions): ReadonlyMap<string, Html> {
  const { services, site, schemas } = options;
  const inline = createSchemaInliner(services, schemas);
  const facts = toDataBlock(toFacts(site, options.isSandbox));
  return new Map(
    services.map((service) => {
      const [input = {}, output = {}] = [service.input, service.output].map(({ document }) => inline(document));
      const shown = { takes: toShown(input), needs: needsOf(input), gives: toShown(output) };
      return [toPageAddress(service.manifest.id), toServicePage(service, { ...options, ...shown, facts })];
    }),
  );
}

interface ServicePageOptions extends DocsOptions {
  readonly takes: Readonly<Record<string, unknown>>;
  readonly needs: string | undefined;
  readonly gives: Readonly<Record<string, unknown>>;
  readonly facts: Html;
}

function toServicePage(service: Service, options: ServicePageOptions): Html {
  const { services, site, baseUrl, isSandbox, takes, needs, gives, facts } = options;
  const { manifest, routes, path } = service;
  const { id, title, description, price, free, sign_in: needsSignIn, category = OTHER } = manifest;
  const source = sourceOf(manifest, site);
  const { cache } = manifest.proxy ?? {};
  const media = mediaOf(manifest);
  const fields = toFields(takes);
  return toPage({
    title: `${title} · ${site.title}`,
    description: toFirstSentence(description),
    url: baseUrl + toPageAddress(id),
    site: site.title,
    isSandbox,
    isTest: isTestSite(site),
    script: `${PATHS.assets}explorer.js`,
    aside: toSidebar(services, service),
    main: html`<article class="service" id="${id}">
<div class="about">
<p class="crumb"><a href="${PATHS.explorer}">Services</a> / ${toHeading(category)}</p>
<h1>${title}</h1>
<p class="route"><b class="method">${routes[0]?.method ?? "POST"}</b> ${path} <span class="price">${toPriceText(price)}${price !== undefined && " a call"}</span></p>
<p>${toProse(description)}</p>
${routes.slice(1).map((alias) => html`<p>Also answers <b class="method">${alias.method}</b>, with the same fields in the ${alias.method === "GET" ? "query" : "body"}.</p>`)}
${price !== undefined && html`<p class="amounts">A call costs ${toAmounts(price, site)}.${free && ` A wallet that signs in gets ${toQuota(free)} free of charge.`}${isKept(manifest) && html` <span class="kept">${KEPT}</span>`}</p>`}
${needsSignIn && html`<p class="amounts">For a wallet that signs in; nothing is paid.</p>`}
${source !== undefined && html`<p class="source">The answers come from ${source}${cache && html`, and are kept for ${cache.seconds} seconds`}.</p>`}
<noscript><p class="notice">Without JavaScript this page can be read, and its code copied; trying the service here needs it.</p></noscript>
${toTryForm(service, takes, fields)}
<h2>Takes</h2>
${
  needs &&
  html`<p>${needs}</p>
`
}${toTable("Takes", fields, "required")}
<h2>Gives</h2>
${media ? html`<p>A file of type <code>${media.type}</code>, of at most ${media.max_bytes} bytes.</p>` : toTable("Gives", toFields(gives), "optional")}
</div>
${toCodes(service, options)}
</article>
<script type="application/json" id="_site">${facts}</script>`,
  });
}

/** Code that calls the service, in one tab per language, and an answer. */
function toCodes(service: Service, { site, baseUrl, isSandbox }: DocsOptions): Html {
  const snippets = toSnippets(service, site, baseUrl);
  const isFile = mediaOf(service.manifest) !== undefined;
  const example = isFile ? undefined : service.manifest.examples.find(({ output }) => output !== undefined);
  return html`<div class="codes">
<fieldset class="tabs"><legend>Call it</legend>
${snippets.map(({ title }, at) => html`<input type="radio" name="_code" id="_code-${at}" value="${title}"${at === 0 && html` checked`}><label class="tab" for="_code-${at}">${title}</label>`)}
${snippets.map(toSnippet)}
</fieldset>
${isSandbox && service.manifest.price !== undefined && NO_REAL_KEY}
${example && html`<h2>An example of an answer</h2>${toCode(JSON.stringify(example.output, null, 2), "json")}`}
</div>`;
}

/** The sandbox's tokens have the real ones' addresses. */
const NO_REAL_KEY = html`<p class="hint">The keys of the sandbox's buyer are at <a href="${PATHS.sandbox}">${PATHS.sandbox}</a>. Use no key of your own here: what it signs counts for real money, too.</p>`;

const toSnippet = ({ code, language }: Snippet): Html =>
  html`<div class="code">${toCode(code, language)}<button type="button" class="copy" hidden>Copy</button></div>`;

function toAmounts(price: string, site: SiteManifest): string {
  const amounts = site.rails.flatMap((rail) => {
    const amount = amountOn(rail, price, site);
    return amount === undefined ? [] : [`${toDecimal(amount, rail.decimals)} ${rail.title}`];
  });
  return amounts.join(", or ");
}

/** @param marked which fields are marked: the required or the optional ones. */
function toTable(title: string, fields: readonly DescribedField[], marked: "required" | "optional"): Html {
  if (fields.length === 0) return html`<p>A JSON object.</p>`;
  const rows = fields.map(
    ({ name, type, isRequired, rules, description }) =>
      html`<tr><th scope="row"><code>${name}</code>${isRequired === (marked === "required") && html` <span class="${marked}">${marked}</span>`}</th><td><span class="type">${type}</span>${rules.map((rule) => html` <span class="rule">${rule}</span>`)}</td><td>${toProse(description)}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="${title}"><table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** The facts that the script needs to explain offers. */
const toFacts = (site: SiteManifest, isSandbox: boolean): object => ({
  sandbox: isSandbox,
  test: isTestSite(site),
  rails: site.rails.map(({ title, network, asset, symbol, decimals, explorer }) => ({
    title,
    network,
    asset,
    symbol,
    decimals,
    explorer,
  })),
});
