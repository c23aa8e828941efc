import type { Call, HandlerParts } from "../../api/plugin.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RequestPlan } from "../../core/proxy/plan.ts";
import { toRequest } from "../../core/proxy/request.ts";
import { type FindAddresses, refusePrivate } from "./address.ts";
import type { Ask } from "./ask.ts";
import type { Work } from "./cached.ts";
import type { Poll } from "./polled.ts";
import type { Read } from "./read.ts";

/** The parts of a handler. */
export interface ProxyHandlerOptions {
  readonly plan: RequestPlan;
  readonly ask: Ask;
  readonly read: Read;
  /** Set when an order is polled. */
  readonly poll: Poll | undefined;
  /** Wraps work that is cached. */
  readonly keep: (work: Work) => Work;
  readonly addresses: FindAddresses;
}

/**
 * The handler of a proxied HTTP service. Its checks refuse, before the payment, inputs that do not fit the request and
 * URLs that are not public.
 */
export function createProxyHandler(options: ProxyHandlerOptions): HandlerParts<JsonObject, unknown> {
  const { plan, ask, read, poll, keep, addresses } = options;
  const work = keep(async (input, signal) => read(await ask(toRequest(plan, { input }), signal)));
  return {
    check(input) {
      refusePrivate(addresses(input));
      toRequest(plan, { input });
    },
    run: async (input, call: Call) => (poll ? read(await poll(input, call)) : work(input, call.signal)),
  };
}
