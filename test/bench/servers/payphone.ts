import type { AnyHandler, Log } from "../../../runtime/api/plugin.ts";
import type { Config } from "../../../runtime/cli/config/config.ts";
import { openMonitor } from "../../../runtime/cli/monitor/monitor.ts";
import { createTallies } from "../../../runtime/core/books/tallies.ts";
import { createSaleAnswers } from "../../../runtime/core/notes/answers.ts";
import { createRefusals } from "../../../runtime/core/notes/refusals.ts";
import { PATHS } from "../../../runtime/core/paths.ts";
import { createPayments } from "../../../runtime/core/payments.ts";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { bindServices } from "../../../runtime/core/service.ts";
import type { Store } from "../../../runtime/core/store.ts";
import type { Rail } from "../../../runtime/core/x402/rails.ts";
import type { Facilitator } from "../../../runtime/core/x402/x402.ts";
import { createHttpFacilitator } from "../../../runtime/drivers/facilitator/http.ts";
import { createMemoryLimiter } from "../../../runtime/drivers/memory-limiter.ts";
import { inCall } from "../../../runtime/drivers/store/cache-reads.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { openRedisStore } from "../../../runtime/drivers/store/redis.ts";
import { openSqliteStore } from "../../../runtime/drivers/store/sqlite/sqlite.ts";
import { createApp } from "../../../runtime/server/app.ts";
import { createExtensions } from "../../../runtime/surfaces/discovery/extensions.ts";
import { createMcp } from "../../../runtime/surfaces/mcp/mcp.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { ANSWER, MANIFESTS, PAY_TO, SITE } from "../shop.ts";
import { SUPPORTED, settled, TRANSACTION, verified } from "../stub-facilitator.ts";
import { announce } from "./announce.ts";

/**
 * payphone itself. `node payphone.ts <memory | SQLite file | Redis URL> [facilitator URL or -] [books | no-books] [ms]`: for so
 * many milliseconds the handler computes.
 */
const [place = "memory", url = "-", books = "books", workMs = "0"] = process.argv.slice(2);
const clock = { now: Date.now };
const log: Log = { info: () => {}, warn: () => {}, error: (event, fields) => console.error(event, fields) };
const opened: Store =
  place === "memory"
    ? createMemoryStore()
    : place.startsWith("redis:")
      ? await openRedisStore({ url: place, namespace: "bench", log })
      : await openSqliteStore({ file: place });
const sold = (): never => {
  throw new Error("nobody scrapes it");
};
const config = { admin: { port: 1 } } as Config; // Nothing else of it is looked at before a scrape.
const monitor = await openMonitor({ config, store: opened, log, sold });
const store: Store =
  books === "books"
    ? monitor.watchStore(opened as OpenStore)
    : { ...opened, enter: (_, { key, value, ttlMs, durability }) => opened.set(key, value, ttlMs, durability) };
const counters =
  books === "books"
    ? {
        tallies: createTallies({ store, onCounted: monitor.countTallies, onTimed: monitor.countTime, clock, log }),
        refusals: createRefusals({ store, clock, log }),
        answers: createSaleAnswers({ store, clock, log }),
        inCall,
      }
    : undefined;
const stub: Facilitator = {
  supported: async () => SUPPORTED.kinds,
  verify: async (payment) => verified(payment),
  settle: async (payment) => settled(payment),
};
const facilitator = url !== "-" ? createHttpFacilitator({ url }) : stub;
const rails: Rail[] = SITE.rails.map((manifest) => ({
  manifest,
  payTo: manifest.network.startsWith("solana:") ? PAY_TO.solana : PAY_TO.evm,
  facilitator,
  settlements: {
    find: async () => ({ state: "settled", transaction: TRANSACTION }),
    balance: async () => 10n ** 18n,
    ping: async () => {},
  },
}));
const answer: AnyHandler = () => {
  for (const end = performance.now() + Number(workMs); performance.now() < end; );
  return ANSWER;
};
const schemas = new Map<string, object>();
const services = bindServices(MANIFESTS, {
  compile: createCompiler(schemas),
  handlers: new Map([["bench.answer", answer]]),
  site: SITE,
});
await announce(async (baseUrl) => {
  const shown = { services, schemas, site: SITE, baseUrl };
  const extensionsOf = createExtensions(shown);
  const payments = createPayments({ site: SITE, services, rails, store, clock, log, extensionsOf, counters });
  await payments.start();
  const { invoke, offers } = payments;
  return createApp({
    services,
    invoke,
    challenge: offers.challenge,
    site: { ...SITE, baseUrl },
    doors: new Map([[PATHS.mcp, createMcp({ ...shown, invoke, loopback: true })]]),
    limits: SITE.limits,
    createLimiter: createMemoryLimiter,
    ready: async () => ({ status: "ready", store: "up", rails: [], upstreams: [], services: [] }),
    clock,
    log,
  });
});
