import { sourceOf } from "../../core/proxy/source.ts";
import type { Service } from "../../core/service.ts";
import { mediaOf, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import { amountOn } from "../../core/set/price.ts";

export type CatalogSite = Pick<
  SiteManifest,
  | "name"
  | "title"
  | "description"
  | "version"
  | "catalog_version"
  | "contact"
  | "rails"
  | "currencies"
  | "yen_tiers"
  | "upstreams"
> & {
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
};

/** The JSON at `GET /`: services, prices and rails. `payphone call` looks services up here by id. */
export interface Catalog {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly version: string;
  readonly catalog_version: string;
  readonly x402Version: 2;
  readonly contact: SiteManifest["contact"];
  readonly rails: readonly CatalogRail[];
  readonly services: readonly CatalogEntry[];
  /** Absolute URLs of other documents and doors, by name. */
  readonly links: Readonly<Record<string, string>>;
}

export interface CatalogRail extends Pick<RailManifest, "id" | "title" | "network" | "asset" | "symbol" | "decimals"> {
  /** Set when the rail's money is worth nothing. */
  readonly testnet?: true;
}

export interface CatalogEntry {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly url: string;
  /** Other routes, as `METHOD /path`. */
  readonly aliases: readonly string[];
  /** Decimal text; null means free. */
  readonly price_usd: string | null;
  /** The free calls of a wallet that signs in; omitted when there are none. */
  readonly free?: { readonly calls: number; readonly per: string };
  /** Set when a wallet must sign in. */
  readonly sign_in?: true;
  /** Ids of the rails that it can be paid on, in the order of its offers. */
  readonly rails: readonly string[];
  readonly tags: readonly string[];
  readonly category: string | null;
  /** The upstream whose answers are sold, for a proxied service. */
  readonly source?: string;
  /** The media type of the answer, when it is a file. */
  readonly media?: string;
  /** The names of the schemas; null where a schema has none. */
  readonly input: string | null;
  readonly output: string | null;
}

/** The catalogue of these services. `links` are paths by name. */
export function toCatalog(
  services: readonly Service[],
  site: CatalogSite,
  links: Readonly<Record<string, string>>,
): Catalog {
  const { name, title, description, version, catalog_version, contact, baseUrl } = site;
  return {
    name,
    title,
    description,
    version,
    catalog_version,
    x402Version: 2,
    contact,
    rails: site.rails.map((rail) => ({
      id: rail.id,
      title: rail.title,
      network: rail.network,
      asset: rail.asset,
      symbol: rail.symbol,
      decimals: rail.decimals,
      ...(rail.testnet && { testnet: true }),
    })),
    services: services.map((service) => toEntry(service, site)),
    links: Object.fromEntries(Object.entries(links).map(([key, path]) => [key, `${baseUrl}${path}`])),
  };
}

function toEntry({ manifest, routes, path }: Service, site: CatalogSite): CatalogEntry {
  const { id, title, description, price, tags, category, input, output } = manifest;
  const { baseUrl, rails } = site;
  const source = sourceOf(manifest, site);
  const media = mediaOf(manifest);
  const payable = price === undefined ? [] : rails.filter((rail) => amountOn(rail, price, site) !== undefined);
  return {
    id,
    title,
    description,
    method: routes[0]?.method ?? "POST",
    path,
    url: `${baseUrl}${path}`,
    aliases: routes.slice(1).map((route) => `${route.method} ${route.path}`),
    price_usd: price ?? null,
    ...(manifest.free && { free: manifest.free }),
    ...(manifest.sign_in && { sign_in: true }),
    rails: payable.map((rail) => rail.id),
    tags,
    category: category ?? null,
    ...(source !== undefined && { source }),
    ...(media && { media: media.type }),
    input: toName(input),
    output: toName(output),
  };
}

/** The name of a schema; the title of a schema that is written in the manifest itself. */
function toName(schema: string | object): string | null {
  if (typeof schema === "string") return schema;
  return "title" in schema && typeof schema.title === "string" ? schema.title : null;
}
