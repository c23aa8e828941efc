import { readConfig } from "../../../../../runtime/cli/config/config.ts";
import { createSandboxPay, SANDBOX_PAY_PATH } from "../../../../../runtime/cli/sandbox/pay.ts";
import { loadAssets } from "../../../../../runtime/cli/serve/assets.ts";
import { createDrivers } from "../../../../../runtime/cli/serve/drivers.ts";
import { toIdleLent } from "../../../../../runtime/cli/set/check.ts";
import { loadSet } from "../../../../../runtime/cli/set/load.ts";
import { loadPlugins } from "../../../../../runtime/cli/set/plugins/load.ts";
import { createPayments } from "../../../../../runtime/core/payments.ts";
import { bindServices } from "../../../../../runtime/core/service.ts";
import type { Manifest } from "../../../../../runtime/core/set/manifest.ts";
import { silentLog } from "../../../../../runtime/core/silent-log.ts";
import { createPurchaseList } from "../../../../../runtime/core/wallets/purchases.ts";
import { createSignIns } from "../../../../../runtime/core/wallets/sign-in.ts";
import { createMemoryLimiter } from "../../../../../runtime/drivers/memory-limiter.ts";
import { createApp } from "../../../../../runtime/server/app.ts";
import { openServer } from "../../../../../runtime/server/listen.ts";
import { createExtensions } from "../../../../../runtime/surfaces/discovery/extensions.ts";
import { toDocuments } from "../../../../../runtime/surfaces/documents.ts";
import { atEnd } from "../../../../support/at-end.ts";
import { sharedSandbox } from "../../../../support/chains/chains.ts";
import { noStatus } from "../../../../support/sellers/call.ts";
import { createMemoryStore } from "../../../../support/store/memory-store.ts";

/** The project's own services with all their pages, paid on the sandbox's chains. */
export interface Counter {
  readonly url: string;
  /** How many there are. */
  readonly services: number;
  close(): Promise<void>;
}

/**
 * One for all test files of this process, closed after the last test.
 * @param isSandbox whether the counter says that its money is play money; if not, only its buyers know.
 */
export function sharedCounter(isSandbox: boolean): Promise<Counter> {
  const counter = shared.get(isSandbox) ?? openShared(isSandbox);
  shared.set(isSandbox, counter);
  return counter;
}

const shared = new Map<boolean, Promise<Counter>>();

async function openShared(isSandbox: boolean): Promise<Counter> {
  const counter = await openCounter(isSandbox);
  atEnd(counter.close);
  return counter;
}

/** @param free the free calls of a roll */
export async function openCounter(isSandbox: boolean, free?: Manifest["free"]): Promise<Counter> {
  const sandbox = await sharedSandbox();
  const server = await openServer({ host: "127.0.0.1", port: 0 });
  const baseUrl = server.url;
  const clock = { now: Date.now };
  const log = silentLog;
  const store = createMemoryStore(clock.now);
  const config = readConfig(sandbox.env);
  const set = await loadSet(`${import.meta.dirname}/../../../../..`);
  const { site, schemas } = set;
  const drivers = createDrivers({ config, site, store, clock, log });
  const { anchor, evm, treasury } = drivers;
  const idle = toIdleLent(set);
  const purchases = createPurchaseList({ store, clock });
  const host = { ...idle.host, anchor, clock, evm, log, purchases, treasury, site: { name: site.name, baseUrl } };
  const { handlers } = await loadPlugins(set, { ...idle, host, env: {} });
  const manifests = set.manifests.map((one) => (free && one.id === "roll" ? { ...one, free } : one));
  const services = bindServices(manifests, { site, compile: set.compile, handlers, statusOf: noStatus });
  const extensionsOf = createExtensions({ services, schemas, baseUrl });
  const networks = site.rails.map(({ network }) => network);
  const signIns = createSignIns({ baseUrl, networks, prove: drivers.proveWallet, store, clock });
  const payments = createPayments({ site, services, rails: drivers.rails, store, clock, log, extensionsOf, signIns });
  await payments.start();
  const { description } = sandbox;
  server.attach(
    createApp({
      services,
      invoke: payments.invoke,
      challenge: payments.offers.challenge,
      site: { ...site, baseUrl },
      documents: toDocuments({ services, site, schemas, baseUrl, isSandbox, assets: await loadAssets() }),
      doors: new Map(isSandbox ? [[SANDBOX_PAY_PATH, createSandboxPay(site.rails, description)]] : []),
      limits: site.limits,
      createLimiter: createMemoryLimiter,
      ready: async () => ({ status: "ready", store: "up", rails: [], upstreams: [], services: [] }),
      ...(isSandbox && { sandbox: description }),
      clock,
      log,
    }),
  );
  return {
    url: server.url,
    services: services.length,
    async close() {
      await server.close({ graceMs: 0 });
      payments.close();
      await drivers.close();
    },
  };
}
