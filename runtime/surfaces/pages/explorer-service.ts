import { sourceOf } from "../../core/proxy/source.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { amountOn, toDecimal } from "../../core/set/price.ts";
import { parametersOf } from "../../core/set/route.ts";
import { type DescribedField, toFields } from "../schema/fields.ts";
import type { InlineSchema } from "../schema/self-contained.ts";
import { type Html, html, toProse } from "./html.ts";
import { toPriceText } from "./page.ts";
import { type Snippet, toSnippets } from "./snippets.ts";

export interface ServiceEntryOptions {
  readonly site: SiteManifest;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly inline: InlineSchema;
}

/** One service in the explorer: a line that opens to show everything about it. */
export function toServiceEntry(service: Service, { site, baseUrl, inline }: ServiceEntryOptions): Html {
  const { manifest, routes, path, input, output } = service;
  const { id, title, description, price, free, sign_in: needsSignIn, tags } = manifest;
  const source = sourceOf(manifest, site);
  const { cache } = manifest.proxy ?? {};
  const [takes, gives] = [input, output].map(({ document }) => toFields(inline(document)));
  const method = routes[0]?.method ?? "POST";
  return html`<details class="service" id="${id}" data-search="${[id, title, description, path, ...tags].join(" ").toLowerCase()}">
<summary><span class="title">${title}</span> <span class="route"><b class="method">${method}</b> ${path}</span> <span class="price">${toPriceText(price)}</span></summary>
<div class="about">
<p>${toProse(description)}</p>
${routes.slice(1).map((alias) => html`<p>Also answers <b class="method">${alias.method}</b>, with the same fields in the query.</p>`)}
${price !== undefined && html`<p class="amounts">A call costs ${toAmounts(price, site)}.${free && ` A wallet that signs in gets ${free.calls} calls free of charge each ${free.per}.`}</p>`}
${needsSignIn && html`<p class="amounts">For a wallet that signs in; nothing is paid.</p>`}
${source !== undefined && html`<p class="source">The answers come from ${source}${cache && html`, and are kept for ${cache.seconds} seconds`}.</p>`}
${toTry(service, method)}
<h3>Takes</h3>
${toTable(takes ?? [], "required")}
<h3>Gives</h3>
${toTable(gives ?? [], "optional")}
${toExampleAnswer(service)}
<h3>From elsewhere</h3>
${toSnippets(service, site, baseUrl).map((snippet) => toSnippetEntry(snippet))}
</div>
</details>
`;
}

function toAmounts(price: string, site: SiteManifest): string {
  const amounts = site.rails.flatMap((rail) => {
    const amount = amountOn(rail, price, site);
    return amount === undefined ? [] : [`${toDecimal(amount, rail.decimals)} ${rail.title}`];
  });
  return amounts.join(", or ");
}

/** The form that the script activates. The script finds its parts by class and `data-` attributes. */
function toTry({ manifest, path }: Service, method: string): Html {
  const { id, title, examples, price } = manifest;
  const texts = examples.map(({ input }) => JSON.stringify(input, null, 2));
  const rows = Math.min(14, Math.max(3, (texts[0] ?? "{}").split("\n").length));
  const parameters = parametersOf(path).join(" ");
  return html`<form class="try" hidden data-id="${id}" data-method="${method}" data-path="${path}" data-parameters="${parameters}">
<h3>Try it</h3>
${
  texts.length > 1 &&
  html`<p class="choose"><label for="_${id}-example">Example</label>
<select id="_${id}-example" class="example">${texts.map((text, at) => html`<option value="${text}">${at + 1}</option>`)}</select></p>`
}
<label for="_${id}-input">Input of ${title}, as JSON</label>
<textarea id="_${id}-input" class="input" rows="${rows}" spellcheck="false" autocapitalize="off" autocomplete="off">${texts[0] ?? "{}"}</textarea>
<p><button type="submit">Send it${price !== undefined && " unpaid"}</button></p>
<p class="status" role="status"></p>
<div class="outcome"></div>
</form>`;
}

/** @param marked which fields are marked: the required or the optional ones. */
function toTable(fields: readonly DescribedField[], marked: "required" | "optional"): Html {
  if (fields.length === 0) return html`<p>A JSON object.</p>`;
  const rows = fields.map(
    ({ name, type, isRequired, rules, description }) =>
      html`<tr><th scope="row"><code>${name}</code>${isRequired === (marked === "required") && html` <span class="${marked}">${marked}</span>`}</th><td><span class="type">${type}</span>${rules.map((rule) => html` <span class="rule">${rule}</span>`)}</td><td>${toProse(description)}</td></tr>`,
  );
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Fields"><table class="fields"><thead><tr><th scope="col">Field</th><th scope="col">Type</th><th scope="col">Meaning</th></tr></thead><tbody>${rows}</tbody></table></div>`;
}

function toExampleAnswer({ manifest: { examples } }: Service): Html | undefined {
  const example = examples.find(({ output }) => output !== undefined);
  if (!example) return undefined;
  return html`<details class="more"><summary>An example of an answer</summary><pre tabindex="0"><code>${JSON.stringify(example.output, null, 2)}</code></pre></details>`;
}

const toSnippetEntry = ({ title, code }: Snippet): Html =>
  html`<details class="more snippet"><summary>${title}</summary><pre tabindex="0"><code>${code}</code></pre><button type="button" class="copy" hidden>Copy</button></details>`;
