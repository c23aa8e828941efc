import type { Service } from "../core/service.ts";
import type { SiteManifest } from "../core/set/manifest.ts";
import { toCatalog } from "./discovery/catalog.ts";
import { toDiscovery } from "./discovery/discovery.ts";
import { toLlmsTxt } from "./discovery/llms-txt.ts";
import { toRobots } from "./discovery/robots.ts";
import type { Document } from "./document.ts";
import { MCP_PATH } from "./mcp/mcp.ts";
import { toServerCard } from "./mcp/server-card.ts";
import { toOpenApi } from "./openapi/openapi.ts";
import { toExplorer } from "./pages/explorer.ts";
import { toFrontPage } from "./pages/front-page.ts";
import type { Html } from "./pages/html.ts";
import { toIco } from "./pages/icon.ts";
import { ASSETS, PAGE_POLICY } from "./pages/page.ts";

export interface DocumentsOptions {
  readonly services: readonly Service[];
  readonly site: SiteManifest;
  /** The set's schemas by name. */
  readonly schemas: ReadonlyMap<string, object>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Whether the money is play money, and `/sandbox` is there. */
  readonly isSandbox: boolean;
  /** The pages' own files by name: `icon.svg`, `icon.png`, styles and scripts. */
  readonly assets: ReadonlyMap<string, Buffer>;
}

/** What else answers at this address, and is not made here: to GET, and to POST alone. */
const PROBES = ["/health", "/ready", "/.well-known/agent-card.json"];
const DOORS = [MCP_PATH, "/v1/a2a"];
const OPENAPI = "/openapi.json";
const EXPLORER = "/docs";
const LLMS = "/llms.txt";
const DISCOVERY = "/.well-known/x402";
const SERVER_CARD = "/.well-known/mcp/server-card.json";
const SANDBOX = "/sandbox";

/** Everything that crawlers, agents and people read about a set of services, by path. The same set gives the same bytes. */
export function toDocuments(options: DocumentsOptions): ReadonlyMap<string, Document> {
  const { services, site, baseUrl, isSandbox, assets } = options;
  const paths = [...PROBES, OPENAPI, EXPLORER, LLMS, DISCOVERY, SERVER_CARD, ...(isSandbox ? [SANDBOX] : [])];
  const named = Object.fromEntries([...paths, ...DOORS].map((path) => [path.slice(1), path]));
  const catalog = toCatalog(services, { ...site, baseUrl }, named);
  const { links } = catalog;
  const front = toPageDocument(toFrontPage({ ...options, paths }));
  const explorer = toPageDocument(toExplorer(options));
  const discovery = toJson(toDiscovery({ ...options, links }));
  const card = toServerCard({ site, baseUrl, endpoint: baseUrl + MCP_PATH, icon: `${baseUrl}/icon.png` });
  return new Map<string, Document>([
    ["/", { ...toJson(catalog), alternatives: [front] }],
    [OPENAPI, toJson(toOpenApi(options))],
    [EXPLORER, explorer],
    [`${EXPLORER}/`, explorer],
    [LLMS, toText(toLlmsTxt({ ...options, links }))],
    [DISCOVERY, discovery],
    [`${DISCOVERY}.json`, discovery],
    [SERVER_CARD, toJson(card)],
    ["/robots.txt", toText(toRobots())],
    ...toIcons(assets),
    ...toAssets(assets),
  ]);
}

const toJson = (value: object): Document => ({ type: "application/json", body: Buffer.from(JSON.stringify(value)) });
const toText = (text: string): Document => ({ type: "text/plain; charset=utf-8", body: Buffer.from(text) });

const toPageDocument = ({ markup }: Html): Document => ({
  type: "text/html; charset=utf-8",
  body: Buffer.from(markup),
  headers: { "Content-Security-Policy": PAGE_POLICY },
});

/** The icon where browsers and directories look for it. */
function toIcons(assets: ReadonlyMap<string, Buffer>): [string, Document][] {
  const [svg, png] = ["icon.svg", "icon.png"].map((name) => assets.get(name));
  if (!svg || !png) throw new TypeError("the assets have no icon.svg or no icon.png");
  return [
    ["/icon.svg", { type: "image/svg+xml", body: svg }],
    ["/icon.png", { type: "image/png", body: png }],
    ["/favicon.ico", { type: "image/x-icon", body: toIco(png) }],
  ];
}

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
};

function toAssets(assets: ReadonlyMap<string, Buffer>): [string, Document][] {
  return [...assets].flatMap(([name, body]): [string, Document][] => {
    const type = TYPES[name.split(".").at(-1) ?? ""];
    return type === undefined ? [] : [[ASSETS + name, { type, body }]];
  });
}
