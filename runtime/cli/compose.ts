import type { RequestListener } from "node:http";
import type { Clock, Log } from "../api/capabilities.ts";
import { createExchanges } from "../core/exchanges.ts";
import type { Fault } from "../core/faults.ts";
import { createPayments, type Payments } from "../core/payments.ts";
import { bindServices, type Service } from "../core/service.ts";
import type { OpenStore } from "../drivers/store-keyv.ts";
import type { SandboxDescription } from "../sandbox/open-sandbox.ts";
import { createApp } from "../server/app.ts";
import type { RpcDoor } from "../server/rpc.ts";
import type { ReadyReport } from "../server/status.ts";
import { createBazaar } from "../surfaces/bazaar.ts";
import { createMcp, MCP_PATH } from "../surfaces/mcp.ts";
import { loadDocuments } from "./assets.ts";
import type { Config } from "./config.ts";
import { createDrivers, type Drivers } from "./drivers.ts";
import { loadPlugins, type ManifestSet } from "./load.ts";
import { openPeerDoor } from "./peer-door.ts";

export interface ComposeOptions {
  readonly set: ManifestSet;
  readonly config: Config;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  readonly store: OpenStore;
  readonly clock: Clock;
  readonly log: Log;
  /** What `GET /sandbox` answers; only a sandbox has it. */
  readonly sandbox?: SandboxDescription | undefined;
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
  const { anchor, evm, treasury } = drivers;
  const host = { anchor, clock, evm, log, treasury, site: { name: site.name, baseUrl } };
  const { handlers, faults } = await loadPlugins(set, { host, env: config.env });
  if (faults.length > 0) {
    await drivers.close();
    return faults;
  }
  const services = bindServices(set.manifests, { site, compile: set.compile, handlers });
  const shown = { services, site, schemas: set.schemas, baseUrl };
  const extensionsOf = createBazaar(shown);
  const exchanges = createExchanges({ store, clock, site });
  const { rails } = drivers;
  const onSettled = exchanges.observe;
  const payments = createPayments({ site, services, rails, store, clock, log, extensionsOf, onSettled });
  const { invoke, offers } = payments;
  const links = { documentation: `${baseUrl}/docs`, icon: `${baseUrl}/icon.png` };
  const agents = await openPeerDoor({ ...shown, config, invoke, exchanges, store, clock, links });
  const doors = new Map<string, RpcDoor>([
    ...agents.doors,
    [MCP_PATH, createMcp({ ...shown, invoke, loopback: isLoopback(config.host), icons: toIcons(baseUrl) })],
  ]);
  if (sandbox) {
    const { createSandboxPay, SANDBOX_PAY_PATH } = await import("./sandbox-pay.ts"); // It brings the buyer's SDKs.
    doors.set(SANDBOX_PAY_PATH, createSandboxPay(site.rails, sandbox));
  }
  const listener = createApp({
    services,
    invoke,
    challenge: offers.challenge,
    site: { ...site, baseUrl },
    doors,
    documents: new Map([...(await loadDocuments({ ...shown, isSandbox: sandbox !== undefined })), ...agents.documents]),
    limits: site.limits,
    trustProxy: config.trustProxy,
    ready: () => toReport({ services, payments, drivers, store }),
    ...(sandbox && { sandbox }),
    clock,
    log,
  });
  return {
    listener,
    services,
    start: payments.start,
    async close() {
      payments.close();
      await agents.close();
      await drivers.close();
    },
  };
}

const toIcons = (baseUrl: string) => [{ src: `${baseUrl}/icon.png`, mimeType: "image/png", sizes: ["256x256"] }];

const isLoopback = (host: string): boolean => host === "localhost" || host === "::1" || host.startsWith("127.");

interface Reported {
  readonly services: readonly Service[];
  readonly payments: Payments;
  readonly drivers: Drivers;
  readonly store: OpenStore;
}

/** A service is up when it is free or can be paid for on at least one rail. */
async function toReport({ services, payments, drivers, store }: Reported): Promise<ReadyReport> {
  const isStoreUp = await store.ping().then(
    () => true,
    () => false,
  );
  const statuses = payments.rails.statuses();
  const rails = drivers.rails.map(({ manifest: { id, network } }) => {
    const status = statuses.get(id);
    const reason = status?.state === "down" ? { reason: status.reason } : {};
    return { id, network, state: status?.state ?? "down", ...reason };
  });
  const all = services.map((service) => {
    const isPayable = service.manifest.price === undefined || payments.offers.of(service).length > 0;
    const id = service.manifest.id;
    return isPayable
      ? { id, state: "up" as const }
      : { id, state: "down" as const, reason: "No rail that it is sold on is up" };
  });
  const isDegraded = [...rails, ...all].some(({ state }) => state === "down");
  const isDead = !isStoreUp || rails.every(({ state }) => state === "down");
  return {
    status: isDead ? "unavailable" : isDegraded ? "degraded" : "ready",
    store: isStoreUp ? "up" : "down",
    rails,
    services: all,
  };
}
