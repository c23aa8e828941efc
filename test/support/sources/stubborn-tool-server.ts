/**
 * An MCP server over standard input and output that ignores the request to end, for tests. Its tools: `self` answers
 * its process id, `hang` stops all answers, `much` answers nearly as much as a client accepts, `pour` more, `shout` first
 * fills standard error, `invent` answers a block that MCP does not have, `defer` asks for more input.
 */
import { createInterface } from "node:readline";

interface Asked {
  readonly id?: number;
  readonly method: string;
  readonly params: { readonly name?: string; readonly protocolVersion?: string };
}

process.on("SIGTERM", () => {});
setInterval(() => {}, 60_000); // Keeps the process alive when its input ends.
let isHanging = false;

createInterface(process.stdin).on("line", (line) => {
  const asked = JSON.parse(line) as Asked;
  isHanging ||= asked.params?.name === "hang";
  if (asked.id === undefined || isHanging) return;
  console.log(JSON.stringify({ jsonrpc: "2.0", id: asked.id, result: toResult(asked) }));
});

function toResult({ method, params }: Asked): object {
  const { protocolVersion } = params;
  const serverInfo = { name: "stubborn", version: "1" };
  if (method === "initialize") return { protocolVersion, capabilities: { tools: {} }, serverInfo };
  if (params.name === "invent") return { content: [{ type: "hologram" }] };
  if (params.name === "defer") return { resultType: "input_required", inputRequests: {} };
  if (params.name === "shout") for (let line = 0; line < 5000; line++) console.error(`line ${line}`);
  const texts: Record<string, () => string> = {
    pour: () => "x".repeat(17 * 2 ** 20),
    much: () => "€".repeat(5 * 2 ** 20),
  };
  return { content: [{ type: "text", text: texts[params.name ?? ""]?.() ?? String(process.pid) }] };
}
