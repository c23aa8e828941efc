import { createReportShelf, type ReportShelf } from "../../core/jobs/reports.ts";
import { createFacilitatorTrust, type FacilitatorTrust } from "../../core/payments/trust.ts";
import { withOneFacilitator } from "../../core/rails/facilitators.ts";
import { withRetiredRails } from "../../core/rails/retired.ts";
import { isSameToken } from "../../core/rails/tokens.ts";
import { keysOf, type SiteManifest, sourceIdOf } from "../../core/set/manifest.ts";
import { createPurchaseList } from "../../core/wallets/purchases.ts";
import { createMcpHandlers } from "../../drivers/mcp/mcp-handlers.ts";
import { createProxyHandlers } from "../../drivers/proxy/handlers.ts";
import { missingForRails } from "../config/serve.ts";
import { traceHandlers, traceTransport } from "../monitor/tracing.ts";
import type { ManifestSet } from "../set/load.ts";
import { type LoadedPlugins, loadPlugins } from "../set/plugins/load.ts";
import type { ComposeOptions } from "./composition.ts";
import { createDrivers, type Drivers } from "./drivers.ts";
import { createReportPublisher } from "./reports.ts";
import { openSources, type Sources } from "./sources.ts";

/** Chains, facilitators, upstreams and the files that handlers publish. Nothing is connected before its first use. */
export interface Outside {
  /** The set's site with the rails that earlier sets had and it has not, as far as they are configured. */
  readonly site: SiteManifest;
  readonly drivers: Drivers;
  readonly sources: Sources;
  readonly reports: ReportShelf;
  readonly trust: FacilitatorTrust;
  close(): Promise<void>;
}

/** @throws Problem `bad-request` when the configuration lacks what the site needs. */
export function openOutside(options: ComposeOptions): Outside {
  const { set, config, baseUrl, store, clock, log, sandbox, monitor, trace } = options;
  const site = withPayableRails(options);
  const retired = site.rails.filter((rail) => !set.site.rails.some((own) => isSameToken(own, rail)));
  const trust = createFacilitatorTrust({ site, store, clock, log });
  const drivers = createDrivers({ config, site, retired, store, clock, log, trust });
  const sources = openSources({
    set: withRetiredSources(set, options.retired),
    retired: options.retired,
    config,
    paceOf: options.paceOf,
    store,
    clock,
    log,
    override: sandbox?.sources,
    watch: (transport) => {
      const seen = monitor?.watchTransport(transport) ?? transport;
      return trace ? traceTransport(seen, trace) : seen;
    },
  });
  const reports = createReportShelf({ store, baseUrl });
  return {
    site,
    drivers,
    sources,
    reports,
    trust,
    async close() {
      await sources.close();
      await drivers.close();
    },
  };
}

/** Sets up the plugins of a set with the capabilities that they may use, and adds the handlers of its proxied services; all are traced. */
export async function openHandlers(
  options: ComposeOptions,
  { drivers, sources, reports: shelf }: Outside,
): Promise<LoadedPlugins> {
  const { set, config, baseUrl, clock, log, sandbox, trace } = options;
  const { anchor, evm, treasury } = drivers;
  const { llm, schedule, web, cacheOf, upstreams, mcpServers: servers } = sources;
  const { manifests, compile } = set;
  const reports = createReportPublisher(shelf, { site: set.site, baseUrl, isSandbox: sandbox !== undefined });
  const site = { name: set.site.name, baseUrl };
  const purchases = createPurchaseList({ store: options.store, clock });
  const host = { anchor, clock, evm, llm, log, purchases, reports, schedule, site, treasury, web };
  const plugins = await loadPlugins(set, { host, cacheOf, upstreams, env: config.env });
  const proxied = createProxyHandlers({ manifests, upstreams, web, cacheOf, compile, clock });
  const tools = createMcpHandlers({ manifests, servers, compile });
  const handlers = new Map([...plugins.handlers, ...proxied, ...tools]);
  return { ...plugins, handlers: trace ? traceHandlers(handlers, trace) : handlers };
}

/** Logs the unset variables of plugins, which must work without them, and unset credentials of proxied services. */
export function warnOfUnset({ set, config, log }: ComposeOptions): void {
  for (const { id, needs = [] } of set.manifests)
    for (const variable of needs)
      if (config.env[variable] === undefined) log.warn("plugin.variable-unset", { service: id, variable });
  for (const { id, ...upstream } of set.site.upstreams ?? []) {
    const isSold = set.manifests.some((manifest) => sourceIdOf(manifest) === id);
    for (const { variable } of isSold ? keysOf(upstream) : [])
      if (config.env[variable] === undefined) log.warn("upstream.key-unset", { upstream: id, variable });
  }
}

/** A retired rail whose variables are no longer set cannot be paid on. */
function withPayableRails({ set, retired = [], config, log, sandbox }: ComposeOptions): SiteManifest {
  const known = (site: SiteManifest): SiteManifest => (sandbox ? withOneFacilitator(site) : site);
  const earlier = retired.map(({ site }) => {
    const rails = site.rails.filter((rail) => {
      const missing = missingForRails(config, known({ ...site, rails: [rail] }));
      if (missing.length > 0) log.warn("rail.retired-unable", { rail: rail.id, missing });
      return missing.length === 0;
    });
    return known({ ...site, rails });
  });
  return withRetiredRails(known(set.site), earlier);
}

/** The upstreams of a set and of its retired services, which still read from them. */
function withRetiredSources(set: ManifestSet, retired: readonly ManifestSet[] = []): ManifestSet {
  const own = set.site.upstreams ?? [];
  const more = retired
    .flatMap(({ site }) => site.upstreams ?? [])
    .filter(({ id }) => !own.some((one) => one.id === id));
  if (more.length === 0) return set;
  const byId = new Map(more.map((upstream) => [upstream.id, upstream]));
  return { ...set, site: { ...set.site, upstreams: [...own, ...byId.values()] } };
}
