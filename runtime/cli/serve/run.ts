import { setTimeout as sleep } from "node:timers/promises";
import packageJson from "../../../package.json" with { type: "json" };
import type { Log } from "../../api/capabilities.ts";
import { toForget } from "../../core/books/keeping.ts";
import { createJobPlaces } from "../../core/jobs/places.ts";
import type { CreateLimiter, Limiter } from "../../core/limiter.ts";
import { createRefusals } from "../../core/notes/refusals.ts";
import { createLog, type OpenLog } from "../../drivers/log.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { keepPaces } from "../../drivers/upstream/pace.ts";
import { createRefusalLog } from "../../server/access-log.ts";
import { belowPath } from "../../server/below.ts";
import { createHold } from "../../server/hold.ts";
import { type OpenServer, openServer } from "../../server/listen.ts";
import type { Config } from "../config/config.ts";
import { explainLeftStore } from "../config/left-store.ts";
import { secretsOf } from "../config/secrets.ts";
import { type SetFolder, tryReadFolder } from "../history/folder.ts";
import { createBookAccess } from "../monitor/book-access.ts";
import { createFolderCheck } from "../monitor/folder-check.ts";
import { openMonitor } from "../monitor/monitor.ts";
import { createSellerPages } from "../monitor/page.ts";
import type { SoldSet } from "../monitor/state.ts";
import { openTracing } from "../monitor/tracing.ts";
import { GRACE_MS } from "../process/signals.ts";
import { toFaultProblem, tryPlugins } from "../set/check.ts";
import type { ManifestSet } from "../set/load.ts";
import { type OpenAdmin, openAdmin } from "./admin/admin.ts";
import { createPresenceBoard } from "./admin/presence.ts";
import { type AdminParts, toAdminRoutes } from "./admin/routes.ts";
import { createChanges } from "./change/changes.ts";
import { createPast } from "./change/past.ts";
import { type ComposeSet, createSwap, type Swap } from "./change/swap.ts";
import { claimStore } from "./claim-store.ts";
import { compose } from "./compose.ts";
import type { Composition, SandboxParts } from "./composition.ts";

export interface RunOptions {
  readonly set: ManifestSet;
  /** Its files as they were before the set was loaded, so that a change in between is seen. Default: as they are. */
  readonly folder?: SetFolder | undefined;
  readonly config: Config;
  /** What a sandbox replaces or adds, for each set that it sells. */
  readonly sandbox?: ((set: ManifestSet) => SandboxParts) | undefined;
  /** Whether the store may be claimed although it has the shop's former name. */
  readonly isRenamed?: boolean;
  /** Whether it starts with a set that other processes sell already, so that its start is no change of the shop. */
  readonly isFollower?: boolean;
  /** Why another set than the one in the shop's folder is sold: a sentence. */
  readonly note?: string | undefined;
  /**
   * Checks a set before it is sold; default: only the faults that the set already lists.
   * @throws Problem `bad-request` with every fault of the set, its plugins, and the variables that it needs.
   */
  readonly examine?: (set: ManifestSet) => Promise<void>;
  /** Receives the requests. Default: payphone's own server on HOST and PORT. */
  readonly server?: Pick<OpenServer, "attach" | "close">;
  /** Default: lines of JSON on standard output. */
  readonly log?: OpenLog | undefined;
}

export interface Running extends Omit<AdminParts, "presence"> {
  readonly admin: OpenAdmin;
  readonly log: Log;
  /** Stops accepting connections, lets calls finish, and then closes what was opened. */
  close(): Promise<void>;
}

/** How long requests wait for a server that starts. */
const HOLD_MS = 10_000;
/** How long to wait for a Redis that starts at the same time. */
const STORE_PATIENCE_MS = 10_000;
/**
 * A pause in which waiting requests are served, because loading the chains' libraries then blocks the process for 100
 * ms.
 */
const BREATH_MS = 10;

/**
 * Starts a server for a checked set. @throws Problem `bad-request` with one line for each fault of a plugin, or because
 * the store belongs to another shop; `unavailable`.
 */
export async function run(options: RunOptions): Promise<Running> {
  const { set, config, sandbox, isRenamed = false, isFollower, note } = options;
  const log = options.log ?? createLog({ level: config.logLevel });
  log.conceal(secretsOf(config, set));
  const clock = { now: Date.now };
  await using opening = new AsyncDisposableStack();
  const onRefused = createRefusalLog(log, clock);
  const own = options.server ? undefined : await openServer({ host: config.host, port: config.port, onRefused });
  const server = options.server ?? (own as OpenServer); // `own` is opened when no server is given.
  opening.defer(() => server.close({ graceMs: GRACE_MS }));
  const hold = createHold(HOLD_MS);
  opening.defer(() => hold.open());
  server.attach(hold.listener);
  const store = await openStore({ ...config, log, patienceMs: STORE_PATIENCE_MS });
  opening.defer(() => store.close());
  if (!sandbox) await claimStore(store, { shop: set.site.name, config, isRenamed });
  const left = await explainLeftStore(config);
  if (left !== undefined) log.warn("store.left", { warning: left });
  const url = own?.url ?? config.publicBaseUrl ?? "";
  const baseUrl = config.publicBaseUrl ?? url;
  const tracing = await openTracing(config, log);
  opening.defer(() => tracing.close());
  const monitor = await openMonitor({ config, store, log, sold: () => toSold(swap) });
  const shared = monitor.watchStore({ ...store, createLimiter: keepLimiters(store.createLimiter) });
  const books = createBookAccess(config, {
    forget: () => toForget(swap.current().set.site.books, clock.now()),
    isGentle: true,
    onProgress: (taken) => log.info("books.catching-up", { taken }),
    onDamaged: (stream, entry) => log.error("books.entry-damaged", { stream, entry }),
  });
  opening.defer(() => books.close());
  const refusals = createRefusals({ store: shared, clock, log });
  const places = createJobPlaces();
  const paceOf = keepPaces(clock);
  /** Emptied once the folder holds what is sold. */
  const notes = note === undefined ? [] : [note];
  const composeSet: ComposeSet = ({ set: next, digest, retired }, knownRails) => {
    for (const each of [next, ...(retired ?? [])]) log.conceal(secretsOf(config, each));
    const said = next === set ? notes : [];
    const sold = { set: next, digest, retired, knownRails, notes: said, sandbox: sandbox?.(next) };
    const kept = { store: shared, books, refusals, places, paceOf };
    return compose({ ...sold, ...kept, config, baseUrl, clock, log, monitor, trace: tracing.trace });
  };
  const first = { set, folder: options.folder ?? tryReadFolder(set.dir) };
  const past = createPast({ dataDir: config.dataDir, home: set.home, log });
  const composition = await composeSet({ set, digest: first.folder?.digest, retired: await past.atStart(first) });
  if (!("listener" in composition)) throw toFaultProblem(composition);
  const swap: Swap = createSwap({ set, composition }, { compose: composeSet, log });
  opening.defer(() => swap.close());
  const serve = tracing.wrap(belowPath(swap.listener, baseUrl));
  hold.turnTo(serve); // From now on /health answers.
  await sleep(BREATH_MS);
  await composition.start();
  server.attach(serve);
  hold.open();
  const examine = options.examine ?? ((next) => refuseOwnFaults(next, config));
  let shop = set.site.name;
  const announce = async (): Promise<void> => {
    const { name } = swap.current().set.site; // Applying a new name renames the shop, which must start again under it.
    if (!sandbox && name !== shop) await claimStore(store, { shop: name, config, isRenamed: true });
    shop = name;
    await presence.tell();
  };
  const agree = () => void notes.splice(0);
  const changes = createChanges({ first, isFollower, swap, past, examine, announce, agree, log });
  const describe = () => ({ version: packageJson.version, set: changes.digest(), url });
  const presence = createPresenceBoard({ store, clock, log, describe });
  opening.defer(() => presence.close());
  presence.start();
  const parts = { swap, changes, presence, url, baseUrl };
  const folderCheck = createFolderCheck({ home: set.home, digest: changes.digest, now: clock.now });
  const pages = { config, store, log, books, folderCheck, isSandbox: sandbox !== undefined, sold: () => toSold(swap) };
  const routes = [...toAdminRoutes(parts), ...monitor.routes, ...createSellerPages(pages)];
  const admin = await openAdmin({ config, routes, log });
  opening.defer(() => admin.close());
  const open = opening.move();
  return {
    url,
    baseUrl,
    swap,
    changes,
    admin,
    log,
    async close() {
      await server.close({ graceMs: GRACE_MS }); // First, because calls in flight need everything that is closed below.
      await open.disposeAsync();
    },
  };
}

function toSold(swap: Swap): SoldSet & Pick<Composition, "services"> {
  const { set, composition } = swap.current();
  return { site: set.site, ...composition };
}

/**
 * Keeps one limiter for each budget across sets, so that a change of the set does not reset what clients have spent.
 */
function keepLimiters(createLimiter: CreateLimiter): CreateLimiter {
  const limiters = new Map<string, Limiter>();
  return (allowance) => {
    const key = JSON.stringify(allowance);
    const limiter = limiters.get(key) ?? createLimiter(allowance);
    limiters.set(key, limiter);
    return limiter;
  };
}

async function refuseOwnFaults(set: ManifestSet, { env }: Config): Promise<void> {
  const { faults } = await tryPlugins(set, env);
  if (faults.length > 0) throw toFaultProblem(faults);
}
