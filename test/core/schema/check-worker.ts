import { parentPort, workerData } from "node:worker_threads";
import { createCompiler } from "../../../runtime/core/schema/validator.ts";
import { cpuOf } from "./cpu.ts";

/** Checks values in a thread of its own, which can be terminated when a value keeps it busy. */
interface Work {
  readonly schemas: ReadonlyMap<string, object>;
  readonly checks: readonly { readonly schema: string | object; readonly json: string }[];
  /** How often each check is run. */
  readonly runs: number;
}

const { schemas, checks, runs } = workerData as Work;
const compile = createCompiler(schemas);

parentPort?.postMessage(
  checks.map(({ schema, json }) => {
    const check = compile(schema).check;
    const input: unknown = JSON.parse(json);
    const found: { issues: readonly { type: string }[] } = { issues: [] };
    const cpu = cpuOf(() => Object.assign(found, check(input, "body")), runs);
    return { issues: found.issues.map(({ type }) => type), answer: JSON.stringify(found.issues).length, cpu };
  }),
);
