import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { LAUNCHER } from "../../support/commands/commands.ts";
import { INHERITED } from "../../support/inherited.ts";

/** A stock MCP client of `payphone mcp-proxy`. @param spending the folder of its budget */
export async function openProxy(url: string, spending: string, ...limits: readonly string[]): Promise<Client> {
  const client = new Client({ name: "a-test", version: "1.0.0" });
  const args = [LAUNCHER, "mcp-proxy", url, "--spending", spending, ...limits];
  const env = { ...INHERITED };
  await client.connect(new StdioClientTransport({ command: process.execPath, args, env, stderr: "ignore" }));
  return client;
}
