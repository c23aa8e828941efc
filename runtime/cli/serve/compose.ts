import type { RequestListener } from "node:http";
import { Problem } from "../../api/problem.ts";
import type { JobEnd, JobRecord } from "../../core/jobs/records.ts";
import { createPayments, type Payments } from "../../core/payments.ts";
import { createExchanges, type Exchanges } from "../../core/peers/exchanges.ts";
import type { Identity } from "../../core/peers/identity.ts";
import { bindServices, isJobService, type Service } from "../../core/service.ts";
import type { Fault } from "../../core/set/faults.ts";
import { createInFlight } from "../../core/time/in-flight.ts";
import { createSignIns, type SignIns } from "../../core/wallets/sign-in.ts";
import { createProofs } from "../../core/x402/proofs.ts";
import { isOffered, type RailStatus } from "../../core/x402/rails.ts";
import { createApp } from "../../server/app.ts";
import { MOST_UNREAD } from "../../server/reply/unread.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import { createExtensions } from "../../surfaces/discovery/extensions.ts";
import { toNotFoundPage } from "../../surfaces/pages/not-found.ts";
import { traceInvoke, traceRails } from "../monitor/tracing.ts";
import { openWebhooks } from "../monitor/webhooks.ts";
import { memory } from "../process/memory.ts";
import type { LoadedPlugins } from "../set/plugins/load.ts";
import { type AddressWatch, createAddressWatch } from "./address-watch.ts";
import { type Bookkeeping, createBookkeeping } from "./bookkeeping.ts";
import type { ComposeOptions, Composition } from "./composition.ts";
import { type Doors, openDoors } from "./doors.ts";
import { createJobEngine, type OpenJobs } from "./job-engine.ts";
import { type Outside, openHandlers, openOutside, warnOfUnset } from "./outside.ts";
import { openOwnIdentity } from "./peer-door.ts";
import { toReadiness } from "./readiness.ts";
import { bindRetired } from "./retired.ts";

/**
 * Composes a server from its parts; returns only the faults when a plugin has any. Closes what it opened when it fails.
 */
export async function compose(options: ComposeOptions): Promise<Composition | readonly Fault[]> {
  await using opening = new AsyncDisposableStack();
  const outside = openOutside(options);
  opening.defer(() => outside.close());
  const { handlers, capabilities, faults } = await openHandlers(options, outside);
  if (faults.length > 0) return faults;
  if (!options.sandbox) warnOfUnset(options);
  const till = await openTill(options, outside, handlers);
  opening.defer(() => till.close());
  const { payments, jobs, services, all: routed, exchanges, identity, signIns, addressWatch } = till;
  const { set, config, baseUrl, store, clock, log, sandbox, notes = [] } = options;
  const shown = { services, site: set.site, schemas: set.schemas, baseUrl };
  const sold = { routed, invoke: payments.invoke, exchanges, identity, signIns };
  const surfaces = await openDoors({ shown, ...sold, config, store, clock, log, sandbox });
  opening.defer(() => surfaces.close());
  const open = opening.move();
  const jobIds = services.filter(isJobService).map(({ manifest }) => manifest.id);
  /** Those of this set, and all others that have jobs in line: removed ones, and those of other processes. */
  const jobServices = async (): Promise<readonly string[]> => [
    ...new Set([...jobIds, ...(await jobs.servicesInLine())]),
  ];
  const { sources, trust } = outside;
  const configured = outside.drivers.rails.filter(isOffered);
  const ready = (): Promise<ReadyReport> =>
    toReadiness({ services, payments, configured, store, sources, addressWatch, trust, notes });
  return {
    listener: toListener(options, { outside, till, surfaces }, ready),
    services,
    capabilities,
    async jobsInLine() {
      const ids = await jobServices();
      return new Map(await Promise.all(ids.map(async (id) => [id, await jobs.inLine(id)] as const)));
    },
    async jobsWaiting(most) {
      const lists = await Promise.all((await jobServices()).map((id) => jobs.list(id, most)));
      return lists.flat().sort((one, other) => one.at - other.at);
    },
    railStatuses: payments.rails.statuses,
    unsellable: () =>
      services
        .filter((service) => service.manifest.price !== undefined && payments.offers.of(service).length === 0)
        .map(({ manifest }) => manifest.id),
    ready,
    trustAgain: trust.trustAgain,
    prepare: payments.prepare,
    takeOver() {
      payments.sweep();
      jobs.takeOver();
    },
    async drain() {
      addressWatch.close();
      // Receivers are told, and lines of the book are deleted, as the next set says.
      const upkeep = [till.webhooks.close(), till.bookkeeping.close()];
      await Promise.all([jobs.drain(), payments.drain(), sources.schedule.close(), ...upkeep]);
    },
    endOffers() {
      payments.rails.close(); // It would publish them again.
      payments.offers.close();
    },
    async start() {
      await payments.start();
      sources.start();
      jobs.start();
      till.bookkeeping.start(services);
      till.webhooks.start();
      if (!sandbox) addressWatch.start();
    },
    close: () => open.disposeAsync(),
  };
}

/** How long calls may take to end once their connections are closed: they give back what they hold, and are counted. */
const CUT_OFF_MS = 2000;

/** The services, and `invoke`, which sells them. */
interface Till {
  readonly services: readonly Service[];
  /** The services, retired ones included. */
  readonly all: readonly Service[];
  readonly payments: Payments;
  readonly jobs: OpenJobs;
  readonly exchanges: Exchanges;
  readonly identity: Identity;
  readonly signIns: SignIns;
  readonly addressWatch: AddressWatch;
  readonly bookkeeping: Bookkeeping;
  readonly webhooks: ReturnType<typeof openWebhooks>;
  close(): Promise<void>;
}

async function openTill(options: ComposeOptions, outside: Outside, handlers: LoadedPlugins["handlers"]): Promise<Till> {
  const { set, config, baseUrl, store, clock, log } = options;
  const { trace, knownRails, monitor, refusals } = options;
  const { drivers, sources, trust } = outside;
  const { site, schemas, compile } = set;
  const rails = trace ? traceRails(drivers.rails, trace) : drivers.rails;
  const canScreen = set.manifests.some(({ id }) => id === site.refunds?.screen);
  // Without a screening service, refunds are paid by hand.
  const refundRail = canScreen ? drivers.refundRail : undefined;
  const { createLimiter } = store;
  const railStatuses = (): ReadonlyMap<string, RailStatus> => payments.rails.statuses();
  const watched = { railStatuses, distrusted: trust.distrusted, isSandbox: options.sandbox !== undefined };
  const webhooks = openWebhooks({ site, config, openBooks: options.books?.open, ...watched, store, clock, log });
  const onEnded = (job: JobRecord, end: JobEnd): void => {
    payments.trials.ended(job, end);
    monitor?.jobEnded(job.service, end.state);
    const what = end.state === "DELIVERED" ? "job:delivered" : "job:failed";
    bookkeeping.counters.tallies.count({ service: job.service, door: "rest", rail: "", what });
  };
  const told = { onFailed: webhooks.jobFailed, onEnded };
  const kept = { store, openBooks: options.books?.open, createLimiter };
  const engine = createJobEngine({
    site,
    set: options.digest,
    config,
    baseUrl,
    refundRail,
    isSandbox: options.sandbox !== undefined,
    places: options.places,
    ...kept,
    clock,
    log,
    ...told,
  });
  const { statusOf } = engine;
  const retired = await bindRetired(options, outside, statusOf);
  const services = bindServices(set.manifests, { site, compile, handlers, statusOf });
  const all = [...retired, ...services]; // A service of this set comes last, so that it replaces a retired one.
  const identity = await openOwnIdentity({ config, store, clock });
  const jobs = await engine.open(all); // Opened last, because a queue must be closed when a later step fails.
  const exchanges = createExchanges({ store, clock, site: outside.site });
  const extensionsOf = createExtensions({ services, schemas, baseUrl });
  const networks = [...new Set(rails.map(({ manifest }) => manifest.network))];
  const signIns = createSignIns({ baseUrl, networks, prove: drivers.proveWallet, store, clock });
  const proofs = createProofs({ baseUrl, signer: identity.signer, clock });
  const hooks = { extensionsOf, signIns, proofs, onSettled: exchanges.observe };
  const { refunds } = engine;
  const checkReady = ({ manifest }: Service): void => {
    const reason = sources.explain(manifest, true);
    if (reason !== undefined) throw new Problem("unavailable", `${reason}; nothing was charged`);
    sources.refuseWait(manifest);
  };
  const counts = { onCounted: monitor?.countTallies, onTimed: monitor?.countTime };
  const bookkeeping = createBookkeeping({ site, store, refusals, ...counts, clock, log });
  monitor?.watchTallies(bookkeeping.counters.tallies);
  const counted = { counters: bookkeeping.counters, setDigest: options.digest };
  const sold = { site: outside.site, services: all, rails, knownRails, jobs, refunds, checkReady, trust };
  const paid = createPayments({ ...sold, baseUrl, store, clock, log, trace, ...hooks, ...counted });
  const calls = createInFlight(trace ? traceInvoke(paid.invoke, trace) : paid.invoke);
  const payments = { ...paid, invoke: calls.run };
  const addressWatch = createAddressWatch({ rails: drivers.watched, isKnown: payments.isKnown, log });
  const close = async (): Promise<void> => {
    addressWatch.close();
    await calls.ended(CUT_OFF_MS);
    payments.close();
    await jobs.close();
    await webhooks.close();
    await bookkeeping.close();
  };
  return { services, all, payments, jobs, exchanges, identity, signIns, addressWatch, bookkeeping, webhooks, close };
}

interface Parts {
  readonly outside: Outside;
  readonly till: Till;
  readonly surfaces: Doors;
}

function toListener(
  options: ComposeOptions,
  { outside, till, surfaces }: Parts,
  ready: () => Promise<ReadyReport>,
): RequestListener {
  const { set, config, baseUrl, store, clock, log, sandbox } = options;
  const { services, all, payments, bookkeeping } = till;
  const { tallies } = bookkeeping.counters;
  const { reports } = outside;
  return createApp({
    services,
    routed: all,
    invoke: payments.invoke,
    challenge: (service, resource) => {
      const challenge = payments.offers.challenge(service, resource);
      tallies.count({ service: service.manifest.id, door: "rest", rail: "", what: "challenge" });
      return challenge;
    },
    count: tallies.count,
    reports,
    doors: surfaces.doors,
    documents: surfaces.documents,
    notFound: toNotFoundPage({ site: set.site, baseUrl, isSandbox: sandbox !== undefined }),
    site: { ...set.site, baseUrl },
    limits: set.site.limits,
    createLimiter: store.createLimiter,
    mostUnread: Math.min(MOST_UNREAD, memory() / 4),
    trustProxy: config.trustProxy,
    ready,
    ...(sandbox && { sandbox: sandbox.description, origins: sandbox.origins }),
    clock,
    log,
  });
}
