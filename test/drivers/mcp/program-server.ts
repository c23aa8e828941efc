import { join } from "node:path";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { connectMcp, type McpConnection } from "../../../runtime/drivers/mcp/connection.ts";
import {
  createToolServer,
  type LiveMcpServer,
  type ToolServerOptions,
} from "../../../runtime/drivers/mcp/mcp-server.ts";
import { createProcessSlots } from "../../../runtime/drivers/mcp/slots.ts";

const PROGRAM = [process.execPath, join(import.meta.dirname, "../../support/sources/tool-server.ts")];
export const SIGNAL: AbortSignal = new AbortController().signal;

/** Connects to the tool server of these tests. */
export const connectProgram =
  (env: Readonly<Record<string, string>> = {}) =>
  (): Promise<McpConnection> =>
    connectMcp({ command: PROGRAM, env, cwd: import.meta.dirname }, 30_000);

const open: LiveMcpServer[] = [];

export const USUAL: ToolServerOptions = {
  id: "tools",
  title: "Tools",
  connect: connectProgram(),
  unset: "",
  timeoutMs: 30_000,
  calls: 4,
  memoryBytes: 2 ** 40,
  repeatsCredential: () => false,
  slots: createProcessSlots(4),
  clock: { now: Date.now },
  log: silentLog,
};

/** A server that `closeServers` closes. */
export function openServer(options: Partial<ToolServerOptions>): LiveMcpServer {
  const server = createToolServer({ ...USUAL, ...options });
  open.push(server);
  return server;
}

export const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

export async function closeServers(): Promise<void> {
  for (const server of open.splice(0)) await server.close();
}
