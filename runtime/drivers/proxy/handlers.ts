import type { AnyHandler } from "../../api/plugin.ts";
import { toRequestPlan } from "../../core/proxy/plan.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { handlerOf, type Manifest } from "../../core/set/manifest.ts";
import type { LiveUpstream } from "../upstream/upstream.ts";
import { createUpstreamAsk } from "./ask.ts";
import { createProxyHandler } from "./handler.ts";

export interface ProxyHandlersOptions {
  readonly manifests: readonly Manifest[];
  /** By id. */
  readonly upstreams: ReadonlyMap<string, LiveUpstream>;
  readonly compile: Compile;
}

/** The handlers of the services that are proxied over HTTP, by the names that `handlerOf` gives. */
export function createProxyHandlers({ manifests, upstreams, compile }: ProxyHandlersOptions): Map<string, AnyHandler> {
  return new Map(
    manifests.flatMap((manifest) => {
      const { request, upstream: id } = manifest.proxy ?? {};
      const upstream = id === undefined ? undefined : upstreams.get(id);
      if (request === undefined || !upstream) return [];
      const plan = toRequestPlan(request, manifest.proxy);
      const ask = createUpstreamAsk(manifest, upstream);
      const output = compile(manifest.output);
      const handler = createProxyHandler({ manifest, plan, ask, title: upstream.title, output });
      return [[handlerOf(manifest), handler as AnyHandler]];
    }),
  );
}
