import type { Call, HandlerParts } from "../../api/plugin.ts";
import type { JsonObject } from "../../core/json.ts";
import { readBody, toOutput } from "../../core/proxy/answer.ts";
import type { RequestPlan } from "../../core/proxy/plan.ts";
import { toRequest } from "../../core/proxy/request.ts";
import type { Schema } from "../../core/schema/validator.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { BytesAnswer } from "../upstream/attempt.ts";
import { type Ask, toMisfit } from "./ask.ts";

export interface ProxyHandlerOptions {
  readonly manifest: Manifest;
  readonly plan: RequestPlan;
  readonly ask: Ask;
  /** The source's name in errors. */
  readonly title: string;
  readonly output: Schema;
}

/** The handler of a proxied HTTP service: its rules refuse inputs that do not fit the request, before anybody pays. */
export function createProxyHandler(options: ProxyHandlerOptions): HandlerParts<JsonObject, unknown> {
  const { plan, ask } = options;
  return {
    check: (input) => void toRequest(plan, { input }),
    run: async (input, { signal }: Call) => toChecked(await ask(toRequest(plan, { input }), signal), options),
  };
}

/** The output that an answer makes. @throws Problem `upstream-failed` when it does not fit the service's schema. */
function toChecked({ headers, body }: BytesAnswer, { manifest, output, title }: ProxyHandlerOptions): unknown {
  const answer = readBody(headers.get("content-type"), body.toString());
  const { value, issues } = output.check(toOutput(answer, manifest.proxy?.answer), "body");
  if (issues.length > 0) throw toMisfit(title, new Error(JSON.stringify(issues.slice(0, 5))));
  return value;
}
