import { isDeepStrictEqual } from "node:util";
import { Problem } from "../../api/problem.ts";
import type { JsonObject } from "../../core/json.ts";
import type { McpConnection } from "../../drivers/mcp/connection.ts";
import { isAnswering, type RecordedExchange, type RecordedRequest, type Recording } from "./recordings.ts";

const METHOD = "tools/call";

/** An MCP tool call (MCP, "Calling Tools") in the form of a recorded request. */
export const toRecordedCall = (name: string, input: JsonObject): RecordedRequest => ({
  rpc: { method: METHOD, params: [{ name, arguments: input }] },
});

/** The recorded answer to a tool call; undefined when there is none. */
export const findCall = (
  recordings: readonly Recording[],
  upstream: string,
  call: RecordedRequest,
): RecordedExchange | undefined =>
  recordings
    .filter((recording) => recording.upstream === upstream)
    .flatMap(({ exchanges }) => exchanges.filter(isAnswering))
    .find(({ request }) => isDeepStrictEqual(request.rpc, call.rpc));

export interface RecordedSessionOptions {
  readonly recordings: readonly Recording[];
  readonly upstream: { readonly id: string; readonly title: string };
  /** What to do about a missing recording, as an imperative; part of the error message. */
  readonly remedy: string;
}

/**
 * A session with an MCP server that answers from recordings. A call without a recording throws Problem
 * `upstream-failed`.
 */
export function createRecordedSession({ recordings, upstream, remedy }: RecordedSessionOptions): McpConnection {
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  return {
    async call(name, input) {
      const found = findCall(recordings, upstream.id, toRecordedCall(name, input));
      if (found?.response.result !== undefined) return found.response.result as never; // Recorded from the server as it was.
      throw new Problem(
        "upstream-failed",
        `The sandbox works offline and has no recording of ${upstream.title} for the tool ${name}: it answers the ` +
          `manifests' examples, once they are recorded (payphone record --new <service>). ` +
          `For any other input, ${remedy}.`,
      );
    },
    isAlive: async () => true,
    tools: async () => ({ tools: [], malformed: [] }),
    name: upstream.title,
    ended,
    pid: undefined,
    close: async () => resolve(),
  };
}
