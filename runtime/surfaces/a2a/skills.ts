import type { JsonObject } from "../../core/json.ts";
import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { toOffered } from "../rpc/cost.ts";

export const MODES = { input: ["application/json", "text/plain"], output: ["application/json"] } as const;

/** Whether a service wants neither a payment nor a sign-in. */
export const isFree = ({ manifest }: Pick<Service, "manifest">): boolean =>
  manifest.price === undefined && !manifest.sign_in;

/** A service as a skill: the fields that A2A 0.3 and 1.0 share (AgentSkill). Its description names the price. */
export function toSkill({ manifest, job }: Service): JsonObject & { readonly description: string } {
  const { id, title, tags, examples, media } = manifest;
  const wait = job ? ` A job of about ${job.manifest.eta_seconds} s: its task is working until then.` : "";
  return {
    id,
    name: title,
    description: toOffered(manifest) + wait,
    tags,
    examples: examples.map(({ input }) => JSON.stringify({ skill: id, input })),
    inputModes: MODES.input,
    outputModes: media ? [media.type] : MODES.output,
  };
}

/** A service in the answer to `capabilities/list`, with its URL and price; 0 means free. */
export function toCapability(service: Service, baseUrl: string): object {
  const { manifest, routes, path } = service;
  return {
    ...toSkill(service),
    url: baseUrl + path,
    method: routes[0]?.method ?? "POST",
    price_usd: Number(manifest.price ?? 0),
  };
}

/**
 * How payments are made, for peers. Only the origin of a facilitator's URL is shown, because its path may hold a key.
 */
export function toX402Block({ rails }: Pick<SiteManifest, "rails">, settler: string): object {
  const facilitator = URL.parse(settler)?.origin ?? settler;
  const [first] = rails;
  const networks = rails.filter(({ symbol }) => symbol === first?.symbol).map(({ network }) => network);
  return { version: 2, facilitator, networks, asset: first?.symbol ?? null, discovery_extension: "bazaar" };
}
