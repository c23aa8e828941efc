import { Problem } from "../../api/problem.ts";
import { bindServices, type Service, type StatusOf } from "../../core/service.ts";
import { handlerOf } from "../../core/set/manifest.ts";
import type { ManifestSet } from "../set/load.ts";
import type { ComposeOptions } from "./composition.ts";
import { type Outside, openHandlers } from "./outside.ts";

/**
 * Binds the retired services: those that earlier sets offered and this one does not. They are not listed. Challenges
 * that were sent can still be paid while they are valid, results can be fetched, and paid jobs are finished. When the
 * plugin of a retired service cannot be set up any more, its calls fail uncharged and its paid jobs are refunded, whatever the
 * service says of failures.
 */
export async function bindRetired(
  options: ComposeOptions,
  outside: Outside,
  statusOf: StatusOf,
): Promise<readonly Service[]> {
  const sets = (options.retired ?? []).map(async (set) => bindSet(set, options, outside, statusOf));
  return (await Promise.all(sets)).flat();
}

async function bindSet(
  set: ManifestSet,
  options: ComposeOptions,
  outside: Outside,
  statusOf: StatusOf,
): Promise<readonly Service[]> {
  const { manifests, compile, site } = set;
  const { log } = options;
  // A retired set has its retired rails only: its anchors and pages need those of the site.
  const onRails = { ...set, site: { ...site, rails: outside.site.rails } };
  const { handlers: able, faults } = await openHandlers({ ...options, set: onRails }, outside);
  for (const { file, message } of faults) log.warn("service.retired-unable", { file, message });
  const handlers = new Map(manifests.map(handlerOf).map((name) => [name, able.get(name) ?? UNABLE]));
  const ids = new Set(manifests.map(({ id }) => id));
  return bindServices(manifests, { site, compile, handlers, statusOf }).map((service) =>
    ids.has(service.manifest.id) ? Object.freeze({ ...service, ...RETIRED, ...unableOf(service) }) : service,
  );
}

const RETIRED = { isRetired: true } as const;

const unableOf = ({ handler }: Service): Pick<Service, "isUnable"> => (handler === UNABLE ? { isUnable: true } : {});

const unable = (): never => {
  throw new Problem("unavailable", "The service is not offered any more");
};

/** Refuses before the money moves, too. */
const UNABLE = { ready: unable, run: unable };
