import type { AnyHandler } from "../api/plugin.ts";
import type { Manifest, SiteManifest } from "./manifest.ts";
import { parseRoute, type Route } from "./route.ts";
import type { Compile, Schema } from "./validator.ts";

/** A manifest bound to its handler and its compiled schemas: ready to be called. Frozen. */
export interface Service {
  readonly manifest: Manifest;
  /** The route of the manifest first, then its aliases. All share one path. */
  readonly routes: readonly Route[];
  readonly path: string;
  readonly handler: AnyHandler;
  readonly input: Schema;
  readonly output: Schema;
  readonly deadlineMs: number;
}

/** What manifests are bound to. */
export interface Bindings {
  readonly site: SiteManifest;
  readonly compile: Compile;
  /** By `plugin.handler`. */
  readonly handlers: ReadonlyMap<string, AnyHandler>;
}

/** The services of a set that has been checked, in the manifests' order. @throws TypeError when it has not been. */
export function bindServices(
  manifests: readonly Manifest[],
  { site, compile, handlers }: Bindings,
): readonly Service[] {
  return Object.freeze(
    manifests.map((manifest) => {
      const routes = Object.freeze([manifest.route, ...(manifest.aliases ?? [])].map(toRoute));
      const handler = handlers.get(manifest.handler);
      if (!handler) throw new TypeError(`${manifest.id}: there is no handler "${manifest.handler}"`);
      return Object.freeze({
        manifest,
        routes,
        path: routes[0]!.path,
        handler,
        input: compile(manifest.input),
        output: compile(manifest.output),
        deadlineMs: (manifest.deadline_seconds ?? site.limits.deadline_seconds) * 1000,
      });
    }),
  );
}

function toRoute(text: string): Route {
  const route = parseRoute(text);
  if (typeof route === "string") throw new TypeError(`route "${text}": ${route}`);
  return Object.freeze(route);
}
