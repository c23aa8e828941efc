import { randomUUID } from "node:crypto";
import type { Call, HandlerParts } from "../../api/plugin.ts";
import type { JsonObject } from "../../core/json.ts";
import type { RequestPlan } from "../../core/proxy/plan.ts";
import { toRequest } from "../../core/proxy/request.ts";
import { type FindAddresses, refusePrivate } from "./address.ts";
import { type Ask, keyed } from "./ask.ts";
import type { Work } from "./cached.ts";
import type { Poll } from "./polled.ts";
import type { Read } from "./read.ts";

export interface ProxyHandlerOptions {
  readonly plan: RequestPlan;
  readonly ask: Ask;
  readonly read: Read;
  /** Whether this server has chosen the call's id, under which the work may run again: jobs and work that was paid first. */
  readonly hasOwnId: (call: Call) => boolean;
  /** Set when an order is polled. */
  readonly poll: Poll | undefined;
  /** The requests of the polls, as `toPollPlans`. */
  readonly polls: readonly RequestPlan[];
  /** Wraps work that is cached. */
  readonly keep: (work: Work) => Work;
  readonly addresses: FindAddresses;
}

/**
 * The handler of a proxied HTTP service. Its checks refuse, before the payment, inputs that do not fit the request and
 * URLs that are not public.
 */
export function createProxyHandler(options: ProxyHandlerOptions): HandlerParts<JsonObject, unknown> {
  const { plan, ask, read, hasOwnId, poll, polls, keep, addresses } = options;
  const work = keep(async (input, signal, order) => read(await ask(keyed(toRequest(plan, { input }), order), signal)));
  return {
    check(input) {
      refusePrivate(addresses(input));
      for (const one of [plan, ...polls]) toRequest(one, { input });
    },
    async run(input, call: Call) {
      if (poll) return read(await poll(input, call));
      return work(input, call.signal, hasOwnId(call) ? call.id : randomUUID()); // Other ids may be the caller's choice.
    },
  };
}
