import { PATHS } from "../../runtime/core/paths.ts";
import { type McpVersion, MODERN } from "../../runtime/surfaces/mcp/versions.ts";
import type { Maker } from "./load.ts";
import { CALL, MANIFESTS } from "./shop.ts";

const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": { name: "bench", version: "0.3.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
};

/**
 * Unpaid calls of all tools in turn, as a client of a version makes them.
 * @throws Error when one is answered with anything but a challenge; the status says nothing here.
 */
export const unpaidTools =
  (version: McpVersion) =>
  async (url: string): Promise<Maker> => {
    for (const [at] of MANIFESTS.entries()) await checkChallenge(url, toRequest(at, version));
    return (count) => Array.from({ length: count }, (_, at) => toRequest(at, version));
  };

function toRequest(at: number, version: McpVersion) {
  const name = MANIFESTS[at % MANIFESTS.length]?.id ?? "";
  const isModern = version === MODERN;
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": version,
    ...(isModern && { "mcp-method": "tools/call", "mcp-name": name }),
  };
  const params = { name, arguments: CALL, ...(isModern && { _meta: META }) };
  const body = JSON.stringify({ jsonrpc: "2.0", id: at, method: "tools/call", params });
  return { method: "POST" as const, path: PATHS.mcp, headers, body };
}

/** The answer may come as a stream of one event. */
async function checkChallenge(
  url: string,
  { method, path, headers, body }: ReturnType<typeof toRequest>,
): Promise<void> {
  const response = await fetch(url + path, { method, headers, body });
  const text = await response.text();
  const { result } = JSON.parse(/\{.*\}/.exec(text)?.[0] ?? "{}");
  const required = result?.structuredContent;
  const isChallenge = result?.isError === true && required?.accepts?.length === 2 && required.extensions?.bazaar;
  if (!isChallenge)
    throw new Error(`${url}${path} answered ${body} with no challenge, but with ${response.status} ${text}`);
}
