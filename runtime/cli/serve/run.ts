import { flushCompileCache } from "node:module";
import { setTimeout as sleep } from "node:timers/promises";
import closeWithGrace from "close-with-grace";
import type { CreateLimiter, Limiter } from "../../core/limiter.ts";
import { createLog } from "../../drivers/log.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { openServer } from "../../server/listen.ts";
import type { Config } from "../config/config.ts";
import { secretsOf } from "../config/secrets.ts";
import { openMonitor } from "../monitor/monitor.ts";
import type { SoldSet } from "../monitor/state.ts";
import { toFaultProblem } from "../set/check.ts";
import type { ManifestSet } from "../set/load.ts";
import { type OpenAdmin, openAdmin } from "./admin.ts";
import { toAdminRoutes } from "./admin-routes.ts";
import { claimStore } from "./claim-store.ts";
import { compose } from "./compose.ts";
import type { SandboxParts } from "./composition.ts";
import { type ComposeSet, createSwap, type Swap } from "./swap.ts";

export interface RunOptions {
  readonly set: ManifestSet;
  readonly config: Config;
  readonly sandbox?: SandboxParts | undefined;
  /** Whether the store belongs to this shop under an earlier name. */
  readonly isRenamed?: boolean;
}

/** A running server. */
export interface Running {
  /** Where it listens; `baseUrl` is the public address. */
  readonly url: string;
  readonly baseUrl: string;
  /** What is sold, and the way to sell something else. */
  readonly swap: Swap;
  readonly admin: OpenAdmin;
  /** Stops accepting connections, lets calls finish, and then closes what was opened. */
  close(): Promise<void>;
}

/** How long calls in flight may take at the end: a deadline and a settlement after it. */
const GRACE_MS = 60_000;
/** How long a Redis that starts at the same time may take. */
const STORE_PATIENCE_MS = 10_000;
/** A pause for waiting requests, because loading the chains' libraries then blocks the process for 100 ms. */
const BREATH_MS = 10;

/**
 * Starts a server for a checked set. @throws Problem `bad-request` with one line for each fault of a plugin, or because
 * the store belongs to another shop; `unavailable`.
 */
export async function run({ set, config, sandbox, isRenamed = false }: RunOptions): Promise<Running> {
  const log = createLog({ level: config.logLevel, secrets: secretsOf(config, set.site) });
  const clock = { now: Date.now };
  await using opening = new AsyncDisposableStack();
  const server = await openServer({ host: config.host, port: config.port });
  opening.defer(() => server.close({ graceMs: GRACE_MS }));
  const store = await openStore({ ...config, log, patienceMs: STORE_PATIENCE_MS });
  opening.defer(() => store.close());
  if (!sandbox) await claimStore(store, { shop: set.site.name, config, isRenamed });
  const baseUrl = config.publicBaseUrl ?? server.url;
  const monitor = await openMonitor({ config, store, log, sold: () => toSold(swap) });
  const shared = monitor.watchStore({ ...store, createLimiter: keepLimiters(store.createLimiter) });
  const composeSet: ComposeSet = (next, knownRails) => {
    log.conceal(secretsOf(config, next.site));
    return compose({ set: next, config, baseUrl, store: shared, clock, log, knownRails, monitor, sandbox });
  };
  const composition = await composeSet(set);
  if (!("listener" in composition)) throw toFaultProblem(composition);
  const swap: Swap = createSwap({ set, composition }, { compose: composeSet, log });
  opening.defer(() => swap.close());
  server.attach(swap.listener); // Health is answered from now on; paid services, when their rails are known.
  await sleep(BREATH_MS);
  await composition.start();
  const routes = [...toAdminRoutes({ swap, url: server.url, baseUrl }), ...monitor.routes];
  const admin = await openAdmin({ config, routes, log });
  opening.defer(() => admin.close());
  flushCompileCache(); // Now, because a killed process would not write it.
  const open = opening.move();
  return {
    url: server.url,
    baseUrl,
    swap,
    admin,
    async close() {
      await server.close({ graceMs: GRACE_MS }); // First, while everything that calls need is still open.
      await open.disposeAsync();
    },
  };
}

function toSold(swap: Swap): SoldSet {
  const { set, composition } = swap.current();
  return { site: set.site, ...composition };
}

/** Gives each budget one limiter, whatever the set: what a client has spent stays spent. */
function keepLimiters(createLimiter: CreateLimiter): CreateLimiter {
  const limiters = new Map<string, Limiter>();
  return (allowance) => {
    const key = JSON.stringify(allowance);
    const limiter = limiters.get(key) ?? createLimiter(allowance);
    limiters.set(key, limiter);
    return limiter;
  };
}

/** Closes the server on SIGINT, SIGTERM and on an uncaught error. */
export function closeOnSignal(close: () => Promise<void>): void {
  closeWithGrace({ delay: GRACE_MS + 10_000, logger: false }, async ({ err }) => {
    if (err) console.error(err);
    await close();
  });
}
