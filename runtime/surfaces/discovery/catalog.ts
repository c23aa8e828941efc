import { sourceOf } from "../../core/proxy/source.ts";
import type { Service } from "../../core/service.ts";
import { mediaOf, type SiteManifest } from "../../core/set/manifest.ts";
import { amountOn } from "../../core/set/price.ts";
import type { LinkedSet } from "../schema/shown-set.ts";

/** The JSON at `GET /`: services, prices and rails. `payphone call` looks services up here by id. */
export function toCatalog({ services, site, baseUrl, links }: Omit<LinkedSet, "schemas">): object {
  const { name, title, description, version, catalog_version, contact } = site;
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
    services: services.map((service) => toEntry(service, site, baseUrl)),
    links,
  };
}

/**
 * One service. `price_usd` is decimal text, null where it is free; `aliases` are other routes as `METHOD /path`; `rails` are the
 * ids of those that it can be paid on, in the order of its offers; `input` and `output` name schemas, null where one has no name.
 */
function toEntry({ manifest, routes, path }: Service, site: SiteManifest, baseUrl: string): object {
  const { id, title, description, price, tags, category, input, output } = manifest;
  const source = sourceOf(manifest, site);
  const media = mediaOf(manifest);
  const payable = price === undefined ? [] : site.rails.filter((rail) => amountOn(rail, price, site) !== undefined);
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
