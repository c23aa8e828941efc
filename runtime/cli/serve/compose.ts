import type { RequestListener } from "node:http";
import type { Clock, Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createReportShelf, type ReportShelf } from "../../core/jobs/reports.ts";
import { createPayments, type Payments } from "../../core/payments.ts";
import { createExchanges, type Exchanges } from "../../core/peers/exchanges.ts";
import type { Identity } from "../../core/peers/identity.ts";
import { bindServices, type Service } from "../../core/service.ts";
import type { Fault } from "../../core/set/faults.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { createPurchaseList } from "../../core/wallets/purchases.ts";
import { createSignIns } from "../../core/wallets/sign-in.ts";
import { createProofs } from "../../core/x402/proofs.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import type { SandboxDescription } from "../../sandbox/open-sandbox.ts";
import { createApp } from "../../server/app.ts";
import { createExtensions } from "../../surfaces/discovery/extensions.ts";
import { toNotFoundPage } from "../../surfaces/pages/not-found.ts";
import type { RpcDoor } from "../../surfaces/rpc/door.ts";
import type { Config } from "../config/config.ts";
import { type LoadedPlugins, loadPlugins, type ManifestSet } from "../set/load.ts";
import { type AddressWatch, createAddressWatch } from "./address-watch.ts";
import { type Doors, openDoors } from "./doors.ts";
import { createDrivers, type Drivers } from "./drivers.ts";
import { createJobEngine, type OpenJobs } from "./job-engine.ts";
import { openOwnIdentity } from "./peer-door.ts";
import { toReadiness } from "./readiness.ts";
import { createReportPublisher } from "./reports.ts";
import { openSources, type Sources, type SourcesOverride } from "./sources.ts";

export interface ComposeOptions {
  readonly set: ManifestSet;
  readonly config: Config;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly store: OpenStore;
  readonly clock: Clock;
  readonly log: Log;
  /** Set in a sandbox only. */
  readonly sandbox?: SandboxParts | undefined;
}

/** What a sandbox replaces or adds. */
export interface SandboxParts {
  /** What `GET /sandbox` answers. */
  readonly description: SandboxDescription;
  readonly sources: SourcesOverride;
  /** Where the data of a service's answers comes from, as its response header says it: `coingecko=recorded`. */
  readonly origins: (manifest: Manifest) => string | undefined;
  /** Additional doors, by path. */
  readonly doors: ReadonlyMap<string, RpcDoor>;
}

/** A set of services, ready to be served. */
export interface Composition {
  readonly listener: RequestListener;
  readonly services: readonly Service[];
  /** Resumes what an earlier process left unfinished, and asks the rails whether they are up. */
  start(): Promise<void>;
  /** Ends all background work. The caller closes the store. */
  close(): Promise<void>;
}

/** Composes a server from its parts; gives only the faults when a plugin has any. What was opened is closed if it fails. */
export async function compose(options: ComposeOptions): Promise<Composition | readonly Fault[]> {
  await using opening = new AsyncDisposableStack();
  const outside = openOutside(options);
  opening.defer(() => outside.close());
  const { handlers, faults } = await setUpPlugins(options, outside);
  if (faults.length > 0) return faults;
  if (!options.sandbox) warnOfUnset(options);
  const till = await openTill(options, outside, handlers);
  opening.defer(() => till.close());
  const surfaces = await openSurfaces(options, till);
  opening.defer(() => surfaces.close());
  const open = opening.move();
  return {
    listener: toListener(options, { outside, till, surfaces }),
    services: till.services,
    async start() {
      await till.payments.start();
      outside.sources.start();
      till.jobs.start();
      if (!options.sandbox) till.addressWatch.start();
    },
    close: () => open.disposeAsync(),
  };
}

/** Chains, facilitators, upstreams, and what handlers leave for download. */
interface Outside {
  readonly drivers: Drivers;
  readonly sources: Sources;
  readonly reports: ReportShelf;
  close(): Promise<void>;
}

function openOutside({ set, config, baseUrl, store, clock, log, sandbox }: ComposeOptions): Outside {
  const drivers = createDrivers({ config, site: set.site, store, clock, log });
  const sources = openSources({ set, config, store, clock, log, override: sandbox?.sources });
  const reports = createReportShelf({ store, baseUrl });
  return {
    drivers,
    sources,
    reports,
    async close() {
      await sources.close();
      await drivers.close();
    },
  };
}

function setUpPlugins(options: ComposeOptions, { drivers, sources, reports: shelf }: Outside): Promise<LoadedPlugins> {
  const { set, config, baseUrl, clock, log, sandbox } = options;
  const { anchor, evm, treasury } = drivers;
  const { llm, schedule, web, cacheOf, upstreams } = sources;
  const reports = createReportPublisher(shelf, { site: set.site, baseUrl, isSandbox: sandbox !== undefined });
  const site = { name: set.site.name, baseUrl };
  const purchases = createPurchaseList({ store: options.store, clock });
  const host = { anchor, clock, evm, llm, log, purchases, reports, schedule, site, treasury, web };
  return loadPlugins(set, { host, cacheOf, upstreams, env: config.env });
}

/** The services, and what sells them. */
interface Till {
  readonly services: readonly Service[];
  readonly payments: Payments;
  readonly jobs: OpenJobs;
  readonly exchanges: Exchanges;
  readonly identity: Identity;
  readonly addressWatch: AddressWatch;
  close(): Promise<void>;
}

async function openTill(
  options: ComposeOptions,
  { drivers, sources }: Outside,
  handlers: LoadedPlugins["handlers"],
): Promise<Till> {
  const { set, config, baseUrl, store, clock, log } = options;
  const { site, schemas, compile } = set;
  const { rails } = drivers;
  const canScreen = set.manifests.some(({ id }) => id === site.refunds?.screen);
  const refundRail = canScreen ? drivers.refundRail : undefined; // Otherwise by hand.
  const { createLimiter } = store;
  const engine = createJobEngine({ site, config, baseUrl, refundRail, store, createLimiter, clock, log });
  const services = bindServices(set.manifests, { site, compile, handlers, statusOf: engine.statusOf });
  const identity = await openOwnIdentity({ config, store, clock });
  const jobs = await engine.open(services); // Last of what can fail here: it has to be closed.
  const exchanges = createExchanges({ store, clock, site });
  const extensionsOf = createExtensions({ services, schemas, baseUrl });
  const networks = rails.map(({ manifest }) => manifest.network);
  const signIns = createSignIns({ baseUrl, networks, prove: drivers.proveWallet, store, clock });
  const proofs = createProofs({ baseUrl, signer: identity.signer, clock });
  const hooks = { extensionsOf, signIns, proofs, onSettled: exchanges.observe };
  const { refunds } = engine;
  const checkReady = ({ manifest }: Service): void => {
    const reason = sources.explain(manifest) ?? (manifest.charge === "first" ? sources.outage(manifest) : undefined);
    if (reason !== undefined) throw new Problem("unavailable", `${reason}; nothing was charged`);
  };
  const payments = createPayments({ site, services, rails, jobs, refunds, checkReady, store, clock, log, ...hooks });
  const addressWatch = createAddressWatch({ rails: drivers.watched, isKnown: payments.isKnown, log });
  const close = async (): Promise<void> => {
    addressWatch.close();
    payments.close();
    await jobs.close();
  };
  return { services, payments, jobs, exchanges, identity, addressWatch, close };
}

function openSurfaces({ set, config, baseUrl, store, clock, sandbox }: ComposeOptions, till: Till): Promise<Doors> {
  const { services, payments, exchanges, identity } = till;
  const shown = { services, site: set.site, schemas: set.schemas, baseUrl };
  return openDoors({ shown, config, invoke: payments.invoke, exchanges, identity, store, clock, sandbox });
}

interface Parts {
  readonly outside: Outside;
  readonly till: Till;
  readonly surfaces: Doors;
}

function toListener(options: ComposeOptions, { outside, till, surfaces }: Parts): RequestListener {
  const { set, config, baseUrl, store, clock, log, sandbox } = options;
  const { services, payments, addressWatch } = till;
  const { drivers, sources, reports } = outside;
  return createApp({
    services,
    invoke: payments.invoke,
    challenge: payments.offers.challenge,
    reports,
    doors: surfaces.doors,
    documents: surfaces.documents,
    notFound: toNotFoundPage({ site: set.site, baseUrl, isSandbox: sandbox !== undefined }),
    site: { ...set.site, baseUrl },
    limits: set.site.limits,
    createLimiter: store.createLimiter,
    trustProxy: config.trustProxy,
    ready: () => toReadiness({ services, payments, configured: drivers.rails, store, sources, addressWatch }),
    ...(sandbox && { sandbox: sandbox.description, origins: sandbox.origins }),
    clock,
    log,
  });
}

/** Logs the unset variables of plugins. Plugins must cope with them. */
function warnOfUnset({ set, config, log }: ComposeOptions): void {
  for (const { id, needs = [] } of set.manifests)
    for (const variable of needs)
      if (config.env[variable] === undefined) log.warn("plugin.variable-unset", { service: id, variable });
}
