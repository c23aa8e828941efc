import { PATHS } from "../../core/paths.ts";
import { type Html, type HtmlPart, html } from "./html.ts";

export interface PageOptions {
  readonly title: string;
  readonly description: string;
  /** The page's own absolute URL. */
  readonly url: string;
  /** The site's name for people. */
  readonly site: string;
  readonly isSandbox: boolean;
  /** Whether the money is test money. */
  readonly isTest: boolean;
  /** The path of the page's script, a module of this origin. */
  readonly script?: string;
  /** Content beside the main content. */
  readonly aside?: HtmlPart;
  readonly main: HtmlPart;
}

/** The policy of pages that load and call their own origin only, without inline scripts and styles, and are not framed. */
export const toPagePolicy = (formAction: "'none'" | "'self'"): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "connect-src 'self'",
    "base-uri 'none'",
    `form-action ${formAction}`,
    "frame-ancestors 'none'",
  ].join("; ");

export const PAGE_POLICY: string = toPagePolicy("'none'");

/** A complete page. Its own element ids begin with `_`, which ids of services never do. */
export function toPage({ title, description, url, site, isSandbox, isTest, script, aside, main }: PageOptions): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="canonical" href="${url}">
<link rel="icon" href="${PATHS.iconSvg}" type="image/svg+xml">
<link rel="icon" href="${PATHS.favicon}" sizes="256x256">
<link rel="apple-touch-icon" href="${PATHS.iconPng}">
<link rel="stylesheet" href="${PATHS.assets}look.css">
<link rel="stylesheet" href="${PATHS.assets}site.css">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:type" content="website">
<meta property="og:url" content="${url}">
${script !== undefined && html`<script type="module" src="${script}"></script>`}
</head>
<body>
<a class="skip" href="#_main">Skip to the content</a>
<header class="top">
${toBrand({ site, home: "/", icon: PATHS.iconSvg })}
<nav aria-label="Site">
<a href="${PATHS.explorer}">Services</a>
<a href="${PATHS.openApi}">OpenAPI</a>
<a href="${PATHS.llms}">llms.txt</a>
</nav>
</header>
${toMoneyNotice({ isSandbox, isTest })}
${
  aside !== undefined &&
  html`<div class="docs">
${aside}`
}
<main id="_main">
${main}
</main>
${aside !== undefined && html`</div>`}
</body>
</html>
`;
}

/** The seller's name and icon, linked to the front page. @param names `icon` is a URL. */
export const toBrand = ({ site, home, icon }: { site: string; home: string; icon: string }): Html =>
  html`<a class="brand" href="${home}"><img src="${icon}" alt="" width="28" height="28">${site}</a>`;

/** The notice of every page on which the money is worth nothing. */
export function toMoneyNotice({ isSandbox, isTest }: Pick<PageOptions, "isSandbox" | "isTest">): Html | false {
  if (isSandbox)
    return html`<p class="banner"><strong>Sandbox.</strong> The money here is play money, and the chains run on the seller's machine.</p>`;
  return (
    isTest &&
    html`<p class="banner"><strong>Test money.</strong> Payments are made on test networks and are worth nothing.</p>`
  );
}

/** A word of a manifest as a heading. */
export const toHeading = (word: string): string =>
  word.charAt(0).toUpperCase() + word.slice(1).replaceAll(/[-_]/g, " ");

/** A price for people. */
export const toPriceText = (price: string | undefined): string => (price === undefined ? "free" : `$${price}`);
