import { parentPort, workerData } from "node:worker_threads";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";

/** Checks values in a thread of its own, which can be terminated when a value keeps it busy. */
interface Work {
  readonly schemas: ReadonlyMap<string, object>;
  readonly checks: readonly { readonly schema: string | object; readonly json: string }[];
}

const { schemas, checks } = workerData as Work;
const compile = createCompiler(schemas);
parentPort?.postMessage(
  checks.map(({ schema, json }) => {
    const { issues } = compile(schema).check(JSON.parse(json), "body");
    return { issues: issues.map(({ type }) => type), answer: JSON.stringify(issues).length };
  }),
);
