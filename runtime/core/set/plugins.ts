import type { AnyHandler } from "../../api/plugin.ts";
import { isObject } from "../json.ts";
import type { Schema } from "../schema/validator.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { Draft } from "./draft.ts";
import { checkExamplesByHandler } from "./examples.ts";
import { type Fault, faultAt } from "./faults.ts";

/** What is wrong with `value`, the default export of the plugin `name`; or nothing. */
export function explainPlugin(value: unknown, name: string): string | undefined {
  const right = `export default definePlugin(${JSON.stringify(name)}, …)`;
  if (!isObject(value) || typeof value.name !== "string" || typeof value.setup !== "function")
    return `its default export is no plugin; write "${right}"`;
  return value.name === name ? undefined : `it defines the plugin "${value.name}"; write "${right}"`;
}

/** The two halves of `plugin.handler`. */
export function splitHandler(text: string): { readonly plugin: string; readonly key: string } {
  const [plugin = "", key = ""] = text.split(".");
  return { plugin, key };
}

/** The handler that a manifest names. Checks that it exists, fits the contract and accepts the manifest's examples. */
export function checkHandler(
  draft: Draft,
  handlers: Readonly<Record<string, unknown>>,
  input: Schema | undefined,
): { readonly handler?: AnyHandler; readonly faults: readonly Fault[] } {
  const { key } = splitHandler(draft.data.handler ?? "");
  if (!Object.hasOwn(handlers, key)) {
    const known = Object.keys(handlers);
    const complaint = `the plugin has no handler "${key}"${didYouMean(key, known) || `; it has ${known.join(", ") || "none of its own"}`}`;
    return { faults: [faultAt(draft, ["handler"], "unknown-handler", complaint)] };
  }
  const handler = handlers[key];
  if (!isHandler(handler)) {
    const complaint = `the plugin's "${key}" is neither a function nor { check, ready, run }`;
    return { faults: [faultAt(draft, ["handler"], "plugin-invalid", complaint)] };
  }
  return { handler, faults: checkExamplesByHandler(draft, input, handler) };
}

const isHandler = (value: unknown): value is AnyHandler =>
  typeof value === "function" ||
  (isObject(value) &&
    typeof value.run === "function" &&
    [value.check, value.ready].every((part) => part === undefined || typeof part === "function"));
