import { join } from "node:path";
import { NodeRpcError } from "../../../runtime/sandbox/json-rpc.ts";
import { fitsBody } from "../../../runtime/sandbox/recordings/match.ts";
import { isAnswering, loadRecordings } from "../../../runtime/sandbox/recordings/recordings.ts";
import { openWorldSource, type WorldSource, type WorldSourceOptions } from "./source.ts";

const ROOT = join(import.meta.dirname, "../../..");

export interface RecordedNodeOptions extends Omit<WorldSourceOptions, "answer"> {
  /** Relative to the repository: `plugins/transaction/recordings/base/transactions.json`. */
  readonly files: readonly string[];
}

/** A node over HTTP that answers the recorded calls. The result of any other call is null. */
export function openRecordedNode({ files, ...rest }: RecordedNodeOptions): Promise<WorldSource> {
  const exchanges = loadRecordings(ROOT, files)
    .flatMap((recording) => recording.exchanges)
    .filter(isAnswering);
  return openWorldSource({
    ...rest,
    answer({ name, params }) {
      const body = { jsonrpc: "2.0", method: name, params };
      const response = exchanges.find(({ request }) => fitsBody(request, body))?.response;
      if (response?.rpc_error) {
        const { code, message, data } = response.rpc_error;
        throw new NodeRpcError(code, message, data);
      }
      return response?.result ?? null;
    },
  });
}
