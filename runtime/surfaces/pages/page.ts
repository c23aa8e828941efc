import { type Html, html, type Part } from "./html.ts";

export interface PageOptions {
  readonly title: string;
  readonly description: string;
  /** The page's own absolute URL. */
  readonly url: string;
  /** The site's name for people. */
  readonly site: string;
  readonly isSandbox: boolean;
  /** The path of a module of this origin that the page runs. */
  readonly script?: string;
  readonly main: Part;
}

/** Where the pages' own files are served. */
export const ASSETS = "/docs/";

/**
 * What a page may do: run and show what this origin serves, and talk to it. No inline script or style, nothing from
 * anywhere else.
 */
export const PAGE_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A whole page. Its own ids begin with `_`, as no id of a service does. */
export function toPage({ title, description, url, site, isSandbox, script, main }: PageOptions): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="canonical" href="${url}">
<link rel="icon" href="/icon.svg" type="image/svg+xml">
<link rel="icon" href="/favicon.ico" sizes="256x256">
<link rel="apple-touch-icon" href="/icon.png">
<link rel="stylesheet" href="${ASSETS}site.css">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:url" content="${url}">
${script !== undefined && html`<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#_main">Skip to the content</a>
<header class="top">
<a class="brand" href="/"><img src="/icon.svg" alt="" width="28" height="28">${site}</a>
<nav aria-label="Site">
<a href="/docs">Services</a>
<a href="/openapi.json">OpenAPI</a>
<a href="/llms.txt">llms.txt</a>
</nav>
</header>
${isSandbox && html`<p class="banner"><strong>Sandbox.</strong> The money here is play money, and the chains run on the seller's machine.</p>`}
<main id="_main">
${main}
</main>
</body>
</html>
`;
}

/** A word of a manifest as a heading. */
export const toHeading = (word: string): string =>
  word.charAt(0).toUpperCase() + word.slice(1).replaceAll(/[-_]/g, " ");

/** A price for people. */
export const toPriceText = (price: string | undefined): string => (price === undefined ? "free" : `$${price}`);
