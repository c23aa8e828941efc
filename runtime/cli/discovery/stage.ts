import { createOffers, type Offers } from "../../core/payments/offers/offers.ts";
import { bindServices, type Service } from "../../core/service.ts";
import { handlerOf, isEvm, type RailManifest, type SiteManifest } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import type { RailStatus } from "../../core/x402/rails.ts";
import { createMemoryLimiter } from "../../drivers/memory-limiter.ts";
import { createApp } from "../../server/app.ts";
import { openServer } from "../../server/listen.ts";
import { createExtensions } from "../../surfaces/discovery/extensions.ts";
import { loadDocuments } from "../serve/assets.ts";
import type { ManifestSet } from "../set/load.ts";
import type { LoadedPlugins } from "../set/plugins/load.ts";

/** A set served on a loopback port as if all its rails were up. It cannot take payments. */
export interface Stage {
  readonly url: string;
  readonly services: readonly Service[];
  readonly offers: Offers;
  close(): Promise<void>;
}

/** Where a stage differs from the shop. */
export interface StageTerms {
  /** The public one, which all documents show. */
  readonly baseUrl: string;
  readonly limits: SiteManifest["limits"];
}

export async function openStage(
  set: ManifestSet,
  { handlers }: LoadedPlugins,
  { baseUrl, limits }: StageTerms,
): Promise<Stage> {
  const { site, schemas, compile } = set;
  const proxied = set.manifests.flatMap((manifest) =>
    manifest.proxy ? [[handlerOf(manifest), unasked] as const] : [],
  );
  const bound = new Map([...handlers, ...proxied]);
  const services = bindServices(set.manifests, { site, compile, handlers: bound, statusOf: () => unasked });
  const offers = await openOffers(set, services, baseUrl);
  const server = await openServer({ host: "127.0.0.1", port: 0 });
  server.attach(
    createApp({
      services,
      invoke: () => Promise.reject(new Error("nothing is sold on a stage")),
      challenge: offers.challenge,
      site: { ...site, baseUrl },
      limits,
      createLimiter: createMemoryLimiter,
      documents: await loadDocuments({ services, site, schemas, baseUrl, isSandbox: false }),
      ready: () => Promise.reject(new Error("a stage is never ready")),
      clock: { now: Date.now },
      log: silentLog,
    }),
  );
  return { url: server.url, services, offers, close: () => server.close({ graceMs: 0 }) };
}

async function openOffers(
  { site, schemas }: ManifestSet,
  services: readonly Service[],
  baseUrl: string,
): Promise<Offers> {
  const history = { publish: async () => {}, earlier: async () => [], close: () => {} };
  const unread = (): Promise<never> => Promise.reject(new Error("a stage has no chain"));
  const facilitator = { supported: unasked, verify: unasked, settle: unasked };
  const rails = site.rails.map((manifest) => ({
    manifest,
    payTo: toAddress(manifest),
    facilitator,
    settlements: { find: unread, balance: unread, ping: unread },
  }));
  const extensionsOf = createExtensions({ services, schemas, baseUrl });
  const offers = createOffers({ site, services, rails, history, extensionsOf });
  const statuses = site.rails.map((rail): [string, RailStatus] => [rail.id, { state: "up", extra: toExtra(rail) }]);
  await offers.update(new Map(statuses));
  return offers;
}

const unasked = (): Promise<never> => Promise.reject(new Error("a stage has no facilitator"));

/** Addresses as long as real ones, because the length of the challenge is measured. */
const SOLANA_ADDRESS = "1".repeat(44);
const toAddress = (rail: RailManifest): string => (isEvm(rail) ? `0x${"0".repeat(40)}` : SOLANA_ADDRESS);
const toExtra = (rail: RailManifest): Readonly<Record<string, unknown>> =>
  isEvm(rail) ? {} : { feePayer: SOLANA_ADDRESS };
