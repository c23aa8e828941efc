import { join } from "node:path";
import { loadAssets } from "../../../runtime/cli/serve/assets.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { createOffers, type Offers } from "../../../runtime/core/payments/offers/offers.ts";
import { bindServices, type Service } from "../../../runtime/core/service.ts";
import { handlerOf } from "../../../runtime/core/set/manifest.ts";
import { createExtensions } from "../../../runtime/surfaces/discovery/extensions.ts";
import { toDocuments } from "../../../runtime/surfaces/documents.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { noStatus } from "../../support/sellers/call.ts";

/** Three services that use what manifests can say: an alias, path parameters, schemas of their own, recursion, no price. */
export const FIXTURES = join(import.meta.dirname, "../../fixtures/golden/set");
export const ROOT = join(import.meta.dirname, "../../..");
export const BASE_URL = "https://corner.example.org";

/** Any JSON that came back: tests look at it, and fail where it is not what they expect. */
// biome-ignore lint/suspicious/noExplicitAny: what is asserted about needs no type
export type Loose = any;

/** A set with everything that is projected from it. No handler of it does anything. */
export interface Shown {
  readonly set: ManifestSet;
  readonly services: readonly Service[];
  readonly offers: Offers;
  readonly documents: ReturnType<typeof toDocuments>;
  /** The document at a path, as text. */
  text(path: string): string;
  /** The document at a path, parsed. */
  json(path: string): Loose;
  service(id: string): Service;
}

export async function showSet(dir = FIXTURES, { isSandbox = false } = {}): Promise<Shown> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw new Error(set.faults.map(({ message }) => message).join("\n"));
  const { site, schemas, compile } = set;
  const handlers = new Map(set.manifests.map((one) => [handlerOf(one), () => ({})]));
  const services = bindServices(set.manifests, { site, compile, handlers, statusOf: noStatus });
  const documents = toDocuments({ services, site, schemas, baseUrl: BASE_URL, isSandbox, assets: await loadAssets() });
  const rails = site.rails.map((rail) => createScriptedRail(rail));
  const history = { publish: async () => {}, earlier: async () => [], close: () => {} };
  const extensionsOf = createExtensions({ services, schemas, baseUrl: BASE_URL });
  const offers = createOffers({ site, services, rails, history, extensionsOf });
  await offers.update(new Map(site.rails.map(({ id }) => [id, { state: "up" as const, extra: {} }])));
  const text = (path: string): string => {
    const document = documents.get(path);
    if (!document) throw new Error(`there is no document at ${path}`);
    return document.body.toString();
  };
  return {
    set,
    services,
    offers,
    documents,
    text,
    json: (path) => JSON.parse(text(path)),
    service(id) {
      const found = services.find(({ manifest }) => manifest.id === id);
      if (!found) throw new Error(`there is no service ${id}`);
      return found;
    },
  };
}
