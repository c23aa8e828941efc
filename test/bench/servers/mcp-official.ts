import type { RequestListener } from "node:http";
import { buffer } from "node:stream/consumers";
import { type CallToolResult, createMcpHandler, fromJsonSchema, McpServer } from "@modelcontextprotocol/server";
import { declareDiscoveryExtension } from "@x402/extensions/bazaar";
import { PATHS } from "../../../runtime/core/paths.ts";
import { ANSWER, EXAMPLE, INPUT, MANIFESTS, OUTPUT, SITE } from "../shop.ts";
import { announce } from "./announce.ts";
import { ACCEPTS, createResources } from "./x402-sdk.ts";

/**
 * The official SDK's own stateless server, selling the same tools. It is spared what can be spared: each challenge is made
 * once, and nothing stands between node:http and the SDK but what its web standard asks for.
 */
const resources = createResources();
await resources.initialize();
const accepts = await resources.buildPaymentRequirementsFromOptions(ACCEPTS, undefined);
const inputSchema = fromJsonSchema(INPUT);
const { name, title, version, description } = SITE;

await announce(async (baseUrl) => {
  const tools = await Promise.all(
    MANIFESTS.map(async (manifest) => ({ manifest, challenge: await toChallenge(manifest, baseUrl + PATHS.mcp) })),
  );
  const { fetch } = createMcpHandler(() => {
    const server = new McpServer({ name, title, version, description, websiteUrl: baseUrl });
    for (const { manifest, challenge } of tools) {
      const { id, title, description } = manifest;
      server.registerTool(id, { title, description, inputSchema }, () => challenge);
    }
    return server;
  });
  return toListener(baseUrl, fetch);
});

async function toChallenge(
  { id, description, tags }: (typeof MANIFESTS)[number],
  url: string,
): Promise<CallToolResult> {
  const resource = { url, description, mimeType: "application/json", serviceName: SITE.title, tags: [...tags] };
  const extensions = declareDiscoveryExtension({
    toolName: id,
    description,
    transport: "streamable-http",
    inputSchema: INPUT,
    example: EXAMPLE,
    output: { example: ANSWER, schema: OUTPUT },
  });
  const required = await resources.createPaymentRequiredResponse(accepts, resource, "Payment required", extensions);
  return {
    content: [{ type: "text", text: JSON.stringify(required) }],
    structuredContent: { ...required },
    isError: true,
  };
}

function toListener(baseUrl: string, fetch: ReturnType<typeof createMcpHandler>["fetch"]): RequestListener {
  return async (request, response) => {
    const parsedBody: unknown = JSON.parse((await buffer(request)).toString());
    const { method = "POST", url = "/" } = request;
    const headers = new Headers(request.headers as Record<string, string>);
    const answer = await fetch(new Request(baseUrl + url, { method, headers }), { parsedBody });
    response.statusCode = answer.status;
    response.setHeaders(answer.headers).end(await answer.bytes());
  };
}
