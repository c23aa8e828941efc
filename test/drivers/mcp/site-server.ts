import { silentLog } from "../../../runtime/core/silent-log.ts";
import { connectMcp } from "../../../runtime/drivers/mcp/connection.ts";
import {
  createToolServer,
  type LiveMcpServer,
  type ToolServerOptions,
} from "../../../runtime/drivers/mcp/mcp-server.ts";

/** The tools of a site over Streamable HTTP. */
export const openSiteServer = (url: string, options: Partial<ToolServerOptions> = {}): LiveMcpServer =>
  createToolServer({
    id: "site",
    title: "Site",
    connect: () => connectMcp({ url, headers: {} }, 30_000),
    unset: "",
    timeoutMs: 30_000,
    calls: 4,
    memoryBytes: 2 ** 40,
    repeatsCredential: () => false,
    slots: undefined,
    clock: { now: Date.now },
    log: silentLog,
    ...options,
  });
