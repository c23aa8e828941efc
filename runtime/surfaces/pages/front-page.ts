import { PATHS } from "../../core/paths.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { Service } from "../../core/service.ts";
import { toUnlessKept } from "../rpc/cost.ts";
import { type DocsOptions, toServiceLists } from "./docs/index-page.ts";
import { toCode } from "./highlight.ts";
import { type Html, html } from "./html.ts";
import { toPage } from "./page.ts";
import { toCurl } from "./snippets.ts";

export interface FrontPageOptions extends DocsOptions {
  /** Paths of documents for machines. */
  readonly paths: readonly string[];
}

/** `GET /` for browsers: what this is, one example, and the services. Agents get the catalogue at the same URL. */
export function toFrontPage(options: FrontPageOptions): Html {
  const { services, site, baseUrl, paths, isSandbox } = options;
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
${example && toExample(example, options)}
${toServiceLists(services)}
<section aria-labelledby="machines">
<h2 id="machines">For agents</h2>
<p>Every service is also a tool of the MCP server <code>${baseUrl}${PATHS.mcp}</code>, and a skill of <a href="${PATHS.agentCard}">this A2A agent</a>. This address answers the catalogue as JSON to whoever does not ask for HTML.</p>
<ul class="links">${paths.map((path) => html`<li><a href="${path}">${path}</a></li>`)}</ul>
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

const toExample = (
  command: string,
  { services, site: { rails } }: DocsOptions,
): Html => html`<section aria-labelledby="how">
<h2 id="how">How a call is bought</h2>
${toCode(command, "sh")}
<p>The answer is <code>402 Payment Required</code> with what is accepted: ${new Intl.ListFormat("en", { type: "disjunction" }).format(rails.map(({ title }) => title))}. Sign one of the offers, and send the same request again with the payment: every x402 client does both by itself. Only results are charged${toUnlessKept(services, "a service")}, and the same payment always gets the same answer.</p>
</section>`;
