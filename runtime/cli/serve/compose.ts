import type { RequestListener } from "node:http";
import type { Clock, Log } from "../../api/capabilities.ts";
import type { Host } from "../../api/plugin.ts";
import { createReportShelf } from "../../core/jobs/reports.ts";
import { createPayments } from "../../core/payments.ts";
import { createExchanges } from "../../core/peers/exchanges.ts";
import { bindServices, type Service } from "../../core/service.ts";
import type { Fault } from "../../core/set/faults.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import { createApp } from "../../server/app.ts";
import type { RpcDoor } from "../../server/routes/rpc.ts";
import { createBazaar } from "../../surfaces/discovery/bazaar.ts";
import type { Config } from "../config/config.ts";
import { type LoadedPlugins, loadPlugins, type ManifestSet } from "../set/load.ts";
import { openDoors } from "./doors.ts";
import { createDrivers } from "./drivers.ts";
import { createJobEngine } from "./job-engine.ts";
import { toReadiness } from "./readiness.ts";
import { openSources, type Sources, type SourcesOverride } from "./sources.ts";

export interface ComposeOptions {
  readonly set: ManifestSet;
  readonly config: Config;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly store: OpenStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Only where the money is play money. */
  readonly sandbox?: SandboxParts | undefined;
}

/** What a sandbox puts in the place of the world. */
export interface SandboxParts {
  /** What `GET /sandbox` answers. */
  readonly description: SandboxDescription;
  readonly sources: SourcesOverride;
  /** Where the data in a service's answers comes from, for its header: `coingecko=recorded`. */
  readonly origins: (manifest: Manifest) => string | undefined;
  /** Served beside the others, by path: what signs with play money. */
  readonly doors: ReadonlyMap<string, RpcDoor>;
}

/** A set of services, ready to be served. */
export interface Composition {
  readonly listener: RequestListener;
  readonly services: readonly Service[];
  /** Takes up what an earlier process left open, and asks the rails. */
  start(): Promise<void>;
  /** Ends all background work. The store is the caller's. */
  close(): Promise<void>;
}

/** The one place where the parts meet. A set whose plugins have faults gives nothing but these. */
export async function compose(options: ComposeOptions): Promise<Composition | readonly Fault[]> {
  const { set, config, baseUrl, store, clock, log, sandbox } = options;
  const { site } = set;
  const drivers = createDrivers({ config, site, store, clock, log });
  const sources = openSources({ set, config, store, clock, log, override: sandbox?.sources });
  const reports = createReportShelf({ store, baseUrl });
  const { handlers, faults } = await lend(options, { ...drivers, reports }, sources);
  if (faults.length > 0) {
    await Promise.all([drivers.close(), sources.close()]);
    return faults;
  }
  if (!sandbox) warnOfUnset(options); // A sandbox brings what its services need.
  const engine = createJobEngine({ site, config, baseUrl, refundRail: drivers.refundRail, store, clock, log });
  const { statusOf } = engine;
  const services = bindServices(set.manifests, { site, compile: set.compile, handlers, statusOf });
  const jobs = await engine.open(services);
  const shown = { services, site, schemas: set.schemas, baseUrl };
  const exchanges = createExchanges({ store, clock, site });
  const { rails } = drivers;
  const hooks = { extensionsOf: createBazaar(shown), onSettled: exchanges.observe };
  const payments = createPayments({ site, services, rails, jobs, store, clock, log, ...hooks });
  const { invoke, offers } = payments;
  const { close, ...beside } = await openDoors({
    shown,
    config,
    invoke,
    exchanges,
    store,
    clock,
    sandbox,
  });
  const listener = createApp({
    ...{ services, invoke, challenge: offers.challenge, reports, ...beside },
    ...{ site: { ...site, baseUrl }, limits: site.limits, trustProxy: config.trustProxy },
    ready: () => toReadiness({ services, payments, configured: rails, store, sources }),
    ...(sandbox && { sandbox: sandbox.description, origins: sandbox.origins }),
    ...{ clock, log },
  });
  return {
    ...{ listener, services },
    async start() {
      await payments.start();
      sources.start();
      jobs.start();
    },
    async close() {
      payments.close();
      await jobs.close();
      await close();
      await sources.close();
      await drivers.close();
    },
  };
}

/** A plugin must cope with what is unset; its operator had better know. */
function warnOfUnset({ set, config, log }: ComposeOptions): void {
  for (const { id, needs = [] } of set.manifests)
    for (const variable of needs)
      if (config.env[variable] === undefined) log.warn("plugin.variable-unset", { service: id, variable });
}

/** Sets the plugins up with what is open. */
function lend(
  { set, config, baseUrl, clock, log }: ComposeOptions,
  { anchor, evm, treasury, reports }: Pick<Host, "anchor" | "evm" | "reports" | "treasury">,
  { llm, schedule, web, ...own }: Sources,
): Promise<LoadedPlugins> {
  const site = { name: set.site.name, baseUrl };
  return loadPlugins(set, {
    ...own,
    host: { anchor, clock, evm, llm, log, reports, schedule, site, treasury, web },
    env: config.env,
  });
}
