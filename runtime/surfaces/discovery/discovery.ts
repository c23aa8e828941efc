import type { JsonObject } from "../../core/json.ts";
import { PATHS } from "../../core/paths.ts";
import { facilitatorsOf, IN_PROCESS } from "../../core/rails/facilitators.ts";
import type { Service } from "../../core/service.ts";
import type { RailManifest, SiteManifest } from "../../core/set/manifest.ts";
import { amountOn, tiersOf, toAtomic, toDecimal } from "../../core/set/price.ts";
import { parametersOf, type Route } from "../../core/set/route.ts";
import { toFileSchema } from "../schema/file.ts";
import { createSchemaInliner } from "../schema/self-contained.ts";
import type { LinkedSet } from "../schema/shown-set.ts";

/**
 * The document at `/.well-known/x402`: every route with its price on every rail and its schemas. `version` is the
 * catalogue's version. Older clients read `resources`, the URLs of paid services.
 */
export function toDiscovery({ services, site, schemas, baseUrl, links }: LinkedSet): object {
  const inline = createSchemaInliner(services, schemas);
  const paid = services.filter(({ manifest }) => manifest.price !== undefined);
  const free = services.filter(({ manifest }) => manifest.price === undefined);
  const toRoutes = (service: Service): object[] =>
    service.routes.map((route) => ({
      ...toHead(service, route, baseUrl),
      ...toPrices(service, site),
      ...toPathParameters(service),
      input: {
        in: route.method === "POST" ? "body" : "query",
        schema: inline(service.input.document),
      },
      output: { schema: toFileSchema(service.manifest) ?? inline(service.output.document) },
      example: service.manifest.examples[0],
    }));
  return {
    version: site.catalog_version,
    x402Version: 2,
    name: site.name,
    title: site.title,
    description: site.description,
    contact: site.contact,
    resources: paid.map(({ path }) => baseUrl + path),
    extensions: [
      "bazaar",
      "payment-identifier",
      "offer-receipt",
      ...(services.some(({ manifest }) => manifest.sign_in || manifest.free) ? ["sign-in-with-x"] : []),
    ],
    networks: site.rails.map((rail) => toNetwork(rail, site)),
    ...toYenPricing(site),
    ...toFixedPricing(site),
    free_endpoints: [
      ...free.flatMap((service) => service.routes.map((route) => toHead(service, route, baseUrl))),
      ...OWN_ENDPOINTS.map(([method, path, description]) => ({ method, path, url: baseUrl + path, description })),
    ],
    routes: paid.flatMap(toRoutes),
    links,
  };
}

/** payphone's own endpoints, which are free. */
const OWN_ENDPOINTS = [
  ["GET", PATHS.health, "Liveness: answers as long as the process does."],
  ["GET", PATHS.ready, "Readiness of the store, the rails and the services."],
  ["GET", PATHS.openApi, "Machine-readable description of all services."],
  ["GET", PATHS.explorer, "Interactive explorer."],
  ["POST", PATHS.mcp, "Model Context Protocol endpoint; only tools/call is paid."],
  ["POST", PATHS.a2a, "Agent-to-agent JSON-RPC door."],
] as const;

function toHead({ manifest, path }: Service, { method }: Route, baseUrl: string): JsonObject {
  const { id, title, description, category, tags, sign_in } = manifest;
  const head = { id, title, description, method, path, url: baseUrl + path, category: category ?? null, tags };
  return { ...head, ...(sign_in && { sign_in }) };
}

function toPrices({ manifest: { price = "", free } }: Service, site: SiteManifest): JsonObject {
  const amounts = site.rails.flatMap((rail) => {
    const amount = amountOn(rail, price, site);
    if (amount === undefined) return [];
    const { network, asset, symbol, decimals } = rail;
    return [{ network, asset, symbol, amount: amount.toString(), display: `${toDecimal(amount, decimals)} ${symbol}` }];
  });
  return { price_usd: price, ...(free && { free_with_sign_in: free }), scheme: "exact", accepts: amounts };
}

function toPathParameters({ path }: Service): JsonObject {
  const path_parameters = parametersOf(path);
  return path_parameters.length > 0 ? { path_parameters } : {};
}

/** A rail for the document. Its facilitator is shown only as in-process or remote, because its URL may hold a key. */
function toNetwork(rail: RailManifest, site: SiteManifest): JsonObject {
  const { id, title, network, asset, symbol, decimals, currency, testnet } = rail;
  const facilitator = facilitatorsOf(rail, site)[0] === IN_PROCESS ? IN_PROCESS : "remote";
  const max_timeout_seconds = site.limits.offer_seconds;
  const terms = { scheme: "exact", facilitator, max_timeout_seconds, ...(testnet && { testnet }) };
  return { id, title, network, asset, symbol, decimals, currency, ...terms };
}

/** The fixed yen tiers. The exchange rate is the one that the highest tier implies. */
function toYenPricing(site: SiteManifest): JsonObject {
  const tiers = Object.entries(tiersOf(site, "jpy") ?? {});
  if (tiers.length === 0 || site.rails.every(({ currency }) => currency !== "jpy")) return {};
  const rates = tiers
    .map(([usd, jpy]) => ({ usd: toAtomic(usd, 18), jpy: toAtomic(jpy, 18) }))
    .sort((a, b) => (a.usd < b.usd ? 1 : -1));
  const [highest] = rates as [(typeof rates)[number]];
  return {
    yen_pricing: {
      pricing_model: "fixed-yen-tiers",
      implied_rate_jpy_per_usd: Number((highest.jpy * 100n) / highest.usd) / 100,
      fx_oracle: false,
      tiers: tiers.map(([price_usd, jpy]) => ({ price_usd, jpy })),
    },
  };
}

/** The fixed tiers of all other currencies that rails use. */
function toFixedPricing(site: SiteManifest): JsonObject {
  const currencies = [...new Set(site.rails.map(({ currency }) => currency))];
  const fixed = currencies.flatMap((currency) => {
    const tiers = currency === "jpy" ? [] : Object.entries(tiersOf(site, currency) ?? {});
    if (tiers.length === 0) return [];
    return [
      [currency, { fx_oracle: false, tiers: tiers.map(([price_usd, amount]) => ({ price_usd, amount })) }] as const,
    ];
  });
  return fixed.length > 0 ? { fixed_pricing: Object.fromEntries(fixed) } : {};
}
