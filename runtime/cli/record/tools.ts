import type { Log } from "../../api/capabilities.ts";
import type { LiveMcpServer } from "../../drivers/mcp/mcp-server.ts";
import type { RecordedExchange, Recording } from "../../sandbox/recordings/recordings.ts";
import { findCall, toRecordedCall } from "../../sandbox/recordings/session.ts";
import type { Env } from "../config/reader.ts";
import { locate } from "../serve/locate.ts";
import { openMcpServers } from "../serve/mcp-servers.ts";
import type { ManifestSet } from "../set/load.ts";

/** MCP servers over HTTP. They answer from recordings; calls without a recording are sent live and noted. */
export interface NotingServers {
  readonly servers: ReadonlyMap<string, LiveMcpServer>;
  /** Returns the noted exchanges, and forgets them. */
  take(): readonly RecordedExchange[];
  close(): Promise<void>;
}

export interface NotingServersOptions {
  readonly set: ManifestSet;
  readonly env: Env;
  readonly recordings: readonly Recording[];
  readonly log: Log;
}

/** An upstream that is a program is not recorded: the sandbox starts it. */
export function openNotingServers({ set, env, recordings, log }: NotingServersOptions): NotingServers {
  const overHttp = (set.site.upstreams ?? []).filter(({ mcp }) => mcp === "http").map(({ id }) => id);
  const find = (upstream: Parameters<typeof locate>[0]): ReturnType<typeof locate> => locate(upstream, env);
  const opened = openMcpServers({ set, env, locate: find, neverRests: true, clock: { now: Date.now }, log });
  let noted: RecordedExchange[] = [];
  const noting = (server: LiveMcpServer): LiveMcpServer => ({
    ...server,
    async call(tool, input, signal) {
      const request = toRecordedCall(tool, input);
      const known = findCall(recordings, server.id, request);
      if (known) return known.response.result as never; // Recorded from the server as it was.
      const result = await server.call(tool, input, signal);
      if (result.isError !== true) noted.push({ case: "success", request, response: { result } });
      return result;
    },
  });
  return {
    servers: new Map([...opened].filter(([id]) => overHttp.includes(id)).map(([id, server]) => [id, noting(server)])),
    take() {
      const taken = noted;
      noted = [];
      return taken;
    },
    close: async () => void (await Promise.all([...opened.values()].map((server) => server.close()))),
  };
}
