/**
 * An MCP server over standard input and output, for tests: `node tool-server.ts [pages]`. Some of its tools behave
 * badly.
 */
import { type CallToolResult, Server, type Tool } from "@modelcontextprotocol/server";
import { serveStdio } from "@modelcontextprotocol/server/stdio";

const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const hoard: Buffer[] = [];

const READS = { readOnlyHint: true, idempotentHint: true, destructiveHint: false, openWorldHint: false };
const NUMBERS = {
  type: "object" as const,
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};
const NOTHING = { type: "object" as const };

const TOOLS: readonly (Tool & { run: (input: Record<string, unknown>) => CallToolResult | Promise<CallToolResult> })[] =
  [
    {
      name: "add",
      title: "Add two numbers",
      description: "Adds two numbers.",
      annotations: READS,
      inputSchema: { ...NUMBERS, examples: [{ a: 1, b: 2 }] } as Tool["inputSchema"],
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      run({ a, b }) {
        const sum = Number(a) + Number(b);
        return { content: [{ type: "text", text: String(sum) }], structuredContent: { sum } };
      },
    },
    {
      name: "draw",
      description: "Draws one pixel.",
      annotations: READS,
      inputSchema: NOTHING,
      run: () => ({
        content: [
          { type: "text", text: "A pixel:" },
          { type: "image", data: PIXEL, mimeType: "image/png" },
          { type: "resource", resource: { uri: "test://pixel", mimeType: "text/plain", text: "one" } },
        ],
      }),
    },
    {
      name: "refuse",
      description: "Says that it failed.",
      annotations: READS,
      inputSchema: NOTHING,
      run: () => ({ isError: true, content: [{ type: "text", text: "The moon is <b>not</b> full" }] }),
    },
    {
      name: "lie",
      description: "Answers something else than it says.",
      annotations: READS,
      inputSchema: NOTHING,
      outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
      run: () => ({ content: [], structuredContent: { sum: "three" } }),
    },
    {
      name: "crash",
      description: "Ends the server.",
      inputSchema: NOTHING,
      run: () => process.exit(3),
    },
    {
      name: "hoard",
      description: "Takes 200 MB, and answers then.",
      inputSchema: NOTHING,
      async run() {
        hoard.push(Buffer.alloc(200 * 2 ** 20, 1));
        await new Promise((resolve) => setTimeout(resolve, 20_000));
        return { content: [{ type: "text", text: String(hoard.length) }] };
      },
    },
    {
      name: "show_self",
      description: "Its process and its variables.",
      annotations: READS,
      inputSchema: NOTHING,
      run: () => ({ content: [{ type: "text", text: JSON.stringify({ pid: process.pid, env: process.env }) }] }),
    },
  ];

serveStdio(() => {
  const server = new Server({ name: "test-tools", version: "1" }, { capabilities: { tools: {} } });
  const listed = TOOLS.map(({ run: _, ...tool }) => tool);
  server.setRequestHandler("tools/list", ({ params }) =>
    params?.cursor === undefined ? { tools: listed.slice(0, 4), nextCursor: "4" } : { tools: listed.slice(4) },
  );
  server.setRequestHandler("tools/call", ({ params }) => {
    const tool = TOOLS.find(({ name }) => name === params.name);
    if (!tool) throw new Error(`Unknown tool ${params.name}`);
    return tool.run(params.arguments ?? {});
  });
  return server;
});
