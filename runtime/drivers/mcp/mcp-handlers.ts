import type { AnyHandler, Call } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import type { JsonObject } from "../../core/json.ts";
import { toOutput } from "../../core/proxy/answer.ts";
import { type OutputFields, readOutputFields } from "../../core/proxy/output-fields.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import type { Compile, Schema } from "../../core/schema/validator.ts";
import { handlerOf, type Manifest, runsOnce } from "../../core/set/manifest.ts";
import { createAddressFinder, refusePrivate } from "../proxy/address.ts";
import { createRefusal } from "../proxy/refusal.ts";
import type { LiveMcpServer } from "./mcp-server.ts";
import { takesBlocks, toToolOutputs } from "./result.ts";

export interface McpHandlersOptions {
  readonly manifests: readonly Manifest[];
  /** Keyed by the id of the upstream. */
  readonly servers: ReadonlyMap<string, LiveMcpServer>;
  readonly compile: Compile;
}

/** A tool has no status of its own. */
const OK = 200;
/** The largest result when the manifest sets no limit. */
const RESULT_BYTES = 1_048_576;

/** The handlers of the services that are tools of MCP servers, keyed by `handlerOf`. */
export function createMcpHandlers({ manifests, servers, compile }: McpHandlersOptions): Map<string, AnyHandler> {
  return new Map(
    manifests.flatMap((manifest) => {
      const { mcp, tool, answer } = manifest.proxy ?? {};
      const server = mcp === undefined ? undefined : servers.get(mcp);
      if (!server || tool === undefined) return [];
      const output = compile(manifest.output);
      const addresses = createAddressFinder(compile(manifest.input));
      const check = (input: JsonObject): void => refusePrivate(addresses(input));
      const fields = readOutputFields(output, answer);
      const hasBlocks = takesBlocks(fields, answer);
      const refuse = createRefusal(server.title, answer);
      const most = answer?.max_bytes ?? RESULT_BYTES;
      const isRepeatable = !runsOnce(manifest);
      const run = async (input: JsonObject, { signal }: Call): Promise<unknown> => {
        const result = await server.call(tool, input, signal, isRepeatable);
        const outputs = toToolOutputs(result, server.title, hasBlocks);
        if (outputs.length > 0) refuse({ status: OK, body: outputs[0] });
        return toFitting(
          outputs.map((one) => toOutput(one, answer)),
          { output, fields, title: server.title, most },
        );
      };
      return [
        [handlerOf(manifest), { check, ready: (input: JsonObject) => server.ready({ tool, input }), run }] as const,
      ];
    }),
  );
}

interface Bounds {
  readonly output: Schema;
  readonly fields: OutputFields;
  readonly title: string;
  /** The largest result, in bytes of JSON. */
  readonly most: number;
}

/** The first output that fits the schema. @throws Problem `upstream-failed` when none fits or it is too large. */
function toFitting(outputs: readonly unknown[], { output, fields, title, most }: Bounds): unknown {
  const checked = outputs.map((one) => ({ one, ...output.check(one, "body") }));
  const found = checked.find(({ one, value, issues }) => issues.length === 0 && !fields.isStrange(one, value));
  if (!found) {
    const issues = checked.flatMap((one) => one.issues);
    const cause = new Error(issues.length > 0 ? toIssueText(issues) : "the output names none of its fields");
    throw new Problem("upstream-failed", `${title}'s answer does not fit this service`, { cause });
  }
  if (Buffer.byteLength(JSON.stringify(found.value)) <= most) return found.value;
  throw new Problem("upstream-failed", `${title} answered with more than ${most} bytes`);
}
