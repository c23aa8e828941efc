import { PassThrough } from "node:stream";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { StdioServerTransport } from "@modelcontextprotocol/server/stdio";
import { readConfig } from "../../../runtime/cli/config/config.ts";
import type { BudgetLimits } from "../../../runtime/cli/mcp-proxy/budget.ts";
import { runMcpProxy } from "../../../runtime/cli/mcp-proxy/proxy.ts";
import { ROOT } from "../../core/set/served-directory.ts";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { INHERITED } from "../../support/inherited.ts";

const INFO = { name: "a-test", version: "1.0.0" };

/** A stock MCP client of `payphone mcp-proxy`, which it starts. @param spending the folder of its budget */
export async function startProxy(url: string, spending: string, ...limits: readonly string[]): Promise<Client> {
  const client = new Client(INFO);
  const args = [LAUNCHER, "mcp-proxy", url, "--spending", spending, ...limits];
  const env = { ...INHERITED };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}

/** The same, with the proxy in the tests' own process, which ends when the client is closed. */
export async function openProxy(url: string, spendingDir: string, limits: Partial<BudgetLimits> = {}): Promise<Client> {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const options = { url, spendingDir, dir: ROOT, limits: { perCall: "0.1", perDay: "1", ...limits } };
  const { signal } = new AbortController();
  const ended = runMcpProxy(readConfig({}), options, { err: () => {}, signal, stdin, stdout });
  const transport = new StdioServerTransport(stdout, stdin); // It reads and writes lines, as a client does.
  const close = transport.close.bind(transport);
  transport.close = async () => {
    stdin.end();
    await ended;
    await close();
  };
  const client = new Client(INFO);
  await client.connect(transport);
  return client;
}
