import type { AnyHandler, Cache, Clock, Web } from "../../api/plugin.ts";
import { toPollPlans, toRequestPlan } from "../../core/proxy/plan.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { handlerOf, type Manifest } from "../../core/set/manifest.ts";
import type { LiveUpstream } from "../upstream/upstream.ts";
import { createAddressFinder } from "./address.ts";
import { type Ask, type AskTerms, createForeignAsk, createUpstreamAsk, termsOf } from "./ask.ts";
import { createCachedWork } from "./cached.ts";
import { createProxyHandler } from "./handler.ts";
import { createPoll } from "./polled.ts";
import { createRead } from "./read.ts";

/** The dependencies of proxied services. */
export interface ProxyHandlersOptions {
  readonly manifests: readonly Manifest[];
  /** Keyed by id. */
  readonly upstreams: ReadonlyMap<string, LiveUpstream>;
  readonly web: Web;
  readonly cacheOf: (service: string) => Cache;
  readonly compile: Compile;
  readonly clock: Clock;
}

/** The handlers of the proxied HTTP services, keyed by `handlerOf`. */
export function createProxyHandlers(options: ProxyHandlersOptions): ReadonlyMap<string, AnyHandler> {
  const made = options.manifests.flatMap((manifest) => {
    const { request } = manifest.proxy ?? {};
    return request === undefined ? [] : [[handlerOf(manifest), toHandler(manifest, request, options)] as const];
  });
  return new Map(made);
}

function toHandler(manifest: Manifest, request: string, options: ProxyHandlersOptions): AnyHandler {
  const { upstreams, web, cacheOf, compile, clock } = options;
  const { upstream: id = "", poll, headers } = manifest.proxy ?? {};
  const upstream = upstreams.get(id);
  const terms = termsOf(manifest);
  const plan = toRequestPlan(request, manifest.proxy, upstream?.parameters);
  const title = upstream?.title ?? "The address";
  const open = (own: AskTerms): Ask => (upstream ? createUpstreamAsk(upstream, own) : createForeignAsk(web, own));
  const ask = open(terms);
  const order = open({ ...terms, chargeOn: undefined, accept: "application/json" });
  const polled = poll && createPoll({ poll, plan, ask: order, fetchResult: ask, title, headers, clock });
  const output = compile(manifest.output);
  const cached = { manifest, output, urlDigest: upstream?.urlDigest, cache: cacheOf(handlerOf(manifest)), clock };
  return createProxyHandler({
    plan,
    ask,
    read: createRead({ manifest, output, title }),
    hasOwnId: ({ network }) => manifest.job !== undefined || (manifest.charge === "first" && network !== undefined),
    poll: polled,
    polls: toPollPlans(poll),
    keep: (work) => createCachedWork(work, cached),
    addresses: createAddressFinder(compile(manifest.input), plan.target.address),
  });
}
