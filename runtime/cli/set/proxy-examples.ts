import type { AnyHandler } from "../../api/plugin.ts";
import { isObject } from "../../core/json.ts";
import { explainRequestLine } from "../../core/proxy/checks/request.ts";
import { toRequestPlan } from "../../core/proxy/plan.ts";
import { toRequest } from "../../core/proxy/request.ts";
import type { Path } from "../../core/schema/nodes.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { toCompiled } from "../../core/set/compiled-set.ts";
import type { Draft } from "../../core/set/draft.ts";
import { checkExamplesByHandler } from "../../core/set/examples.ts";
import { type Fault, faultAt } from "../../core/set/faults.ts";
import { addressesOf, explainAddress } from "../../drivers/proxy/address.ts";

/** Checks the examples and the defaults of proxied services by the rules that inputs of callers are held to. */
export const checkProxyExamples = (drafts: readonly Draft[], compile: Compile): Fault[] =>
  drafts.flatMap((draft) => {
    const { request, ...parts } = draft.data.proxy ?? {};
    const { input } = toCompiled(draft, compile);
    if (request === undefined || !input || explainRequestLine(request) !== undefined) return [];
    const plan = toRequestPlan(request, parts);
    const addresses = addressesOf(input.document, plan);
    const faults = [...valuesOf(draft, addresses)].flatMap(([path, value]) => {
      const complaint = typeof value === "string" ? explainAddress(value) : undefined;
      return complaint === undefined ? [] : [faultAt(draft, path, "private-address", complaint)];
    });
    if (faults.length > 0) return faults;
    const rules = { check: (value: object) => void toRequest(plan, { input: { ...value } }), run: () => ({}) };
    return checkExamplesByHandler(draft, input, rules as unknown as AnyHandler);
  });

/** Every value that a manifest itself gives these fields. */
function* valuesOf(draft: Draft, fields: readonly string[]): Generator<readonly [path: Path, value: unknown]> {
  const { input, examples = [] } = draft.data;
  for (const field of fields) {
    const named = isObject(input) && isObject(input.properties) ? input.properties[field] : undefined;
    if (isObject(named))
      for (const key of ["default", "const"]) yield [["input", "properties", field, key], named[key]];
    for (const [at, example] of examples.entries())
      if (isObject(example.input)) yield [["examples", at, "input", field], example.input[field]];
  }
}
