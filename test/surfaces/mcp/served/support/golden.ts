import { join } from "node:path";
import type { Stall } from "./stall.ts";

export const GOLDEN = join(import.meta.dirname, "../../../../fixtures/mcp/tools.json");

/** The stall's tools as the newest version of the handshake shows them. In the file they are formatted for people. */
export async function toGolden({ post }: Stall): Promise<string> {
  const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };
  const { body } = await post(list, { "mcp-protocol-version": "2025-11-25" });
  return JSON.stringify(body.result);
}
