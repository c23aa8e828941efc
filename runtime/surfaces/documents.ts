import { PATHS } from "../core/paths.ts";
import { toCatalog } from "./discovery/catalog.ts";
import { toDiscovery } from "./discovery/discovery.ts";
import { toLlmsTxt } from "./discovery/llms-txt.ts";
import { type Document, toJsonDocument } from "./http/document.ts";
import { toServerCard } from "./mcp/server-card.ts";
import { toOpenApi } from "./openapi/openapi.ts";
import { belowBase } from "./pages/below.ts";
import { type DocsOptions, toIndexPage } from "./pages/docs/index-page.ts";
import { toServicePages } from "./pages/docs/service-page.ts";
import { toFrontPage } from "./pages/front-page.ts";
import type { Html } from "./pages/html.ts";
import { toIco } from "./pages/icon.ts";
import { PAGE_POLICY } from "./pages/page.ts";

export interface DocumentsOptions extends DocsOptions {
  /** The files of the pages by name: `icon.svg`, `icon.png`, styles and scripts. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

/** The paths listed in the catalogue: documents, which answer GET, and doors, which answer POST. */
const LISTED = ["health", "ready", "agentCard", "openApi", "explorer", "llms", "discovery", "serverCard"] as const;
const DOORS = [PATHS.mcp, PATHS.a2a];

/** All documents about a set of services, by path. The same set gives the same bytes. */
export function toDocuments(options: DocumentsOptions): ReadonlyMap<string, Document> {
  const { site, baseUrl, isSandbox, assets } = options;
  const paths = [...LISTED.map((name) => PATHS[name]), ...(isSandbox ? [PATHS.sandbox] : [])];
  const links = Object.fromEntries([...paths, ...DOORS].map((path) => [path.slice(1), baseUrl + path]));
  const front = toPageDocument(toFrontPage({ ...options, paths }), baseUrl);
  const explorer = toPageDocument(toIndexPage(options), baseUrl);
  const servicePages = [...toServicePages(options)].map(
    ([path, page]) => [path, toPageDocument(page, baseUrl)] as const,
  );
  const discovery = toJsonDocument(toDiscovery({ ...options, links }));
  const card = toServerCard({ site, baseUrl, endpoint: baseUrl + PATHS.mcp, icon: baseUrl + PATHS.iconPng });
  return new Map<string, Document>([
    [PATHS.front, { ...toJsonDocument(toCatalog({ ...options, links })), alternatives: [front] }],
    [PATHS.openApi, toJsonDocument(toOpenApi(options))],
    [PATHS.explorer, explorer],
    [PATHS.assets, explorer],
    ...servicePages,
    [PATHS.llms, toText(toLlmsTxt({ ...options, links }))],
    [PATHS.discovery, discovery],
    [`${PATHS.discovery}.json`, discovery],
    [PATHS.serverCard, toJsonDocument(card)],
    [PATHS.robots, toText(ROBOTS)],
    ...toIcons(assets),
    ...toAssets(assets),
  ]);
}

/** Crawlers may read everything: paid paths ask for payment themselves. */
const ROBOTS = "User-agent: *\nAllow: /\n";

const toText = (text: string): Document => ({ type: "text/plain; charset=utf-8", body: Buffer.from(text) });

const toPageDocument = ({ markup }: Html, baseUrl: string): Document => ({
  type: "text/html; charset=utf-8",
  body: Buffer.from(belowBase(markup, baseUrl)),
  headers: { "Content-Security-Policy": PAGE_POLICY },
});

/** The icon at the paths where browsers and directories look for it. */
function toIcons(assets: ReadonlyMap<string, Buffer>): [string, Document][] {
  const [svg, png] = ["icon.svg", "icon.png"].map((name) => assets.get(name));
  if (!svg || !png) throw new TypeError("the assets have no icon.svg or no icon.png");
  return [
    [PATHS.iconSvg, { type: "image/svg+xml", body: svg }],
    [PATHS.iconPng, { type: "image/png", body: png }],
    [PATHS.favicon, { type: "image/x-icon", body: toIco(png) }],
  ];
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

function toAssets(assets: ReadonlyMap<string, Buffer>): [string, Document][] {
  return [...assets].flatMap(([name, body]): [string, Document][] => {
    const type = TYPES[name.split(".").at(-1) ?? ""];
    return type === undefined ? [] : [[PATHS.assets + name, { type, body }]];
  });
}
