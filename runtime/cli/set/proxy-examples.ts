import { isObject, type JsonObject } from "../../core/json.ts";
import { explainRequestLine } from "../../core/proxy/checks/request.ts";
import { toPollPlans, toRequestPlan } from "../../core/proxy/plan.ts";
import { toRequest } from "../../core/proxy/request.ts";
import type { Path } from "../../core/schema/nodes.ts";
import type { Compile, Schema } from "../../core/schema/validator.ts";
import { toCompiled } from "../../core/set/compiled-set.ts";
import type { Draft } from "../../core/set/draft.ts";
import { checkExamplesByHandler } from "../../core/set/examples.ts";
import { type Fault, faultAt } from "../../core/set/faults.ts";
import type { ProxyManifest } from "../../core/set/manifest.ts";
import { createAddressFinder, explainAddress } from "../../drivers/proxy/address.ts";

/** Checks the examples and defaults of proxied services by the rules for callers' inputs. */
export const checkProxyExamples = (drafts: readonly Draft[], compile: Compile): Fault[] =>
  drafts.flatMap((draft) => {
    const { request, ...parts } = draft.data.proxy ?? {};
    const { input } = toCompiled(draft, compile);
    if (!draft.data.proxy || !input || (request !== undefined && explainRequestLine(request) !== undefined)) return [];
    const plan = request === undefined ? undefined : toRequestPlan(request, parts); // None for an MCP server's tool.
    const find = createAddressFinder(input, plan?.target.address);
    const faults = valuesOf(draft).flatMap(([place, value]) =>
      find(value).flatMap(({ path, text }) => {
        const complaint = explainAddress(text);
        return complaint === undefined ? [] : [faultAt(draft, toPlace(place, path), "private-address", complaint)];
      }),
    );
    if (faults.length > 0 || !plan) return faults;
    const plans = [plan, ...toPollPlans(parts.poll)];
    const check = (value: object): void => {
      for (const one of plans) toRequest(one, { input: { ...value } });
    };
    const rules = { check, run: () => ({}) };
    return checkExamplesByHandler(draft, input, rules);
  });

/** Whether a request can be sent with an input that fits its schema. */
export function createSendable({ request, ...parts }: ProxyManifest, input: Schema): (value: JsonObject) => boolean {
  if (request !== undefined && explainRequestLine(request) !== undefined) return () => true; // The check says more.
  const plan = request === undefined ? undefined : toRequestPlan(request, parts);
  const find = createAddressFinder(input, plan?.target.address);
  return (value) => {
    const checked = input.check(value, "body", "own").value as JsonObject;
    if (find(checked).some(({ text }) => explainAddress(text) !== undefined)) return false;
    try {
      if (plan) toRequest(plan, { input: checked });
      return true;
    } catch {
      return false;
    }
  };
}

type Given = "default" | "const" | number;

/** Every input that a manifest contains: its examples and its fields' own values. */
function valuesOf(draft: Draft): readonly (readonly [place: Given, value: JsonObject])[] {
  const { input, examples = [] } = draft.data;
  const fields = isObject(input) && isObject(input.properties) ? Object.entries(input.properties) : [];
  const own = (["default", "const"] as const).map((key) => {
    const given = fields.flatMap(([name, field]) => (isObject(field) && key in field ? [[name, field[key]]] : []));
    return [key, Object.fromEntries(given) as JsonObject] as const;
  });
  return [...own, ...examples.map((example, at) => [at, isObject(example.input) ? example.input : {}] as const)];
}

function toPlace(given: Given, path: Path): Path {
  if (typeof given === "number") return ["examples", given, "input", ...path];
  const [field = "", ...rest] = path;
  return ["input", "properties", field, given, ...rest];
}
