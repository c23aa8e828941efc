import { PATHS } from "../../core/paths.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { tiersOf } from "../../core/set/price.ts";
import { type Html, html, toProse } from "./html.ts";
import { toPage, toPriceText } from "./page.ts";
import { toCurl } from "./snippets.ts";

export interface FrontPageOptions {
  readonly services: readonly Service[];
  readonly site: SiteManifest;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Paths of documents for machines. */
  readonly paths: readonly string[];
  readonly isSandbox: boolean;
}

/** `GET /` for people: the services, their prices and how they are paid. Agents get the catalogue there. */
export function toFrontPage({ services, site, baseUrl, paths, isSandbox }: FrontPageOptions): Html {
  const example = chooseExample(services, baseUrl);
  return toPage({
    title: `${site.title}: pay-per-call services for AI agents`,
    description: site.description,
    url: `${baseUrl}/`,
    site: site.title,
    isSandbox,
    isTest: isTestSite(site),
    main: html`<div class="hero">
<h1>${site.title}</h1>
<p class="lead">${site.description}</p>
<p><a class="button" href="${PATHS.explorer}">See and try the services</a></p>
</div>
${example && toSteps(example)}
${toPriceList(services)}
${toWays(site)}
${toDoors(site, baseUrl)}
<section aria-labelledby="links">
<h2 id="links">For machines</h2>
<ul class="links">${paths.map((path) => html`<li><a href="${path}">${path}</a></li>`)}</ul>
<p>This address answers the same catalogue as JSON to whoever does not ask for HTML.</p>
</section>
<footer>Questions: <a href="${site.contact.url}">${site.contact.name}</a></footer>`,
  });
}

/** The shortest example of a paid service. */
function chooseExample(services: readonly Service[], baseUrl: string): string | undefined {
  const commands = services
    .filter(({ manifest }) => manifest.price !== undefined)
    .map((service) => toCurl(service, baseUrl));
  return commands.sort((one, other) => one.length - other.length)[0];
}

function toSteps(command: string): Html {
  return html`<section aria-labelledby="how">
<h2 id="how">How a call is bought</h2>
<ol class="steps">
<li><strong>Ask.</strong> Send the request without a payment:
<pre tabindex="0"><code>${command}</code></pre></li>
<li><strong>Read the price.</strong> The answer is <code>402 Payment Required</code> with what is accepted: network, token, amount, address. Nothing has run and nothing is owed.</li>
<li><strong>Sign and repeat.</strong> Sign one of the offers with your own wallet and send the same request with it in the <code>PAYMENT-SIGNATURE</code> header. Every x402 client does both steps by itself.</li>
</ol>
<p>Only results are charged. A refused input or a failed call costs nothing, and the same payment always gets the same answer again.</p>
</section>`;
}

function toPriceList(services: readonly Service[]): Html {
  const rows = services.map(
    ({ manifest }) =>
      html`<tr><th scope="row"><a href="${PATHS.explorer}#${manifest.id}">${manifest.title}</a></th><td>${toProse(manifest.description)}</td><td class="price">${toPriceText(manifest.price)}</td></tr>`,
  );
  return html`<section aria-labelledby="prices">
<h2 id="prices">Services and prices</h2>
<table class="prices"><thead><tr><th scope="col">Service</th><th scope="col">What it does</th><th scope="col" class="price">A call</th></tr></thead><tbody>${rows}</tbody></table>
</section>`;
}

function toWays(site: SiteManifest): Html {
  const { rails } = site;
  const others = [...new Set(rails.map(({ currency }) => currency))].filter(
    (currency) => currency !== "usd" && Object.keys(tiersOf(site, currency) ?? {}).length > 0,
  );
  const names =
    others.length === 1 && others[0] === "jpy"
      ? "Yen prices"
      : `Prices in ${others.map((currency) => currency.toUpperCase()).join(" and ")}`;
  return html`<section aria-labelledby="pay">
<h2 id="pay">Ways to pay</h2>
<ul>${rails.map(({ title, network }) => html`<li>${title} <code>${network}</code></li>`)}</ul>
${others.length > 0 && html`<p>${names} are fixed amounts for fixed dollar prices, not conversions; each challenge shows every amount that is accepted.</p>`}
</section>`;
}

function toDoors({ title }: SiteManifest, baseUrl: string): Html {
  return html`<section aria-labelledby="doors">
<h2 id="doors">One set of services, three doors</h2>
<dl class="doors">
<dt>HTTP</dt><dd>One route for each service, listed in <a href="${PATHS.explorer}">the explorer</a> and described in <a href="${PATHS.openApi}">OpenAPI</a>.</dd>
<dt>MCP</dt><dd>Every paid service is a tool of <code>${baseUrl}${PATHS.mcp}</code> (Streamable HTTP).</dd>
<dt>A2A</dt><dd>${title} is an agent, too: <a href="${PATHS.agentCard}">its card</a>.</dd>
</dl>
</section>`;
}
