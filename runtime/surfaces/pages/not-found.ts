import { PATHS } from "../../core/paths.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import type { Document } from "../http/document.ts";
import { belowBase } from "./below.ts";
import { html } from "./html.ts";
import { PAGE_POLICY, toPage } from "./page.ts";

export interface NotFoundOptions {
  readonly site: Pick<SiteManifest, "title" | "rails">;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly isSandbox: boolean;
}

/** The page for browsers at unknown paths. It shows nothing of the request, so it is the same for every path. */
export function toNotFoundPage({ site, baseUrl, isSandbox }: NotFoundOptions): Document {
  const { markup } = toPage({
    title: `Nothing here: ${site.title}`,
    description: `There is nothing at this address of ${site.title}.`,
    url: `${baseUrl}/`,
    site: site.title,
    isSandbox,
    isTest: isTestSite(site),
    main: html`<div class="hero">
<h1>There is nothing at this address</h1>
<p class="lead">It may have been mistyped, or what was here is not kept any more.</p>
<p><a class="button" href="${PATHS.explorer}">See the services</a></p>
<p><a href="${PATHS.front}">The front page</a> lists everything that is here.</p>
</div>`,
  });
  const headers = { "Content-Security-Policy": PAGE_POLICY, Vary: "Accept" };
  return { type: "text/html; charset=utf-8", body: Buffer.from(belowBase(markup, baseUrl)), headers };
}
