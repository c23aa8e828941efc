/** An MCP server over standard input and output, for tests. Some of its tools behave badly. */
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
const SUM = { type: "object" as const, properties: { sum: { type: "number" } }, required: ["sum"] };
const toText = (text: string, isError = false): CallToolResult => ({
  ...(isError && { isError }),
  content: [{ type: "text", text }],
});

interface OwnTool extends Tool {
  readonly run: (input: Record<string, unknown>) => CallToolResult | Promise<CallToolResult>;
}

/** A tool without an input. */
const toTool = (name: string, description: string, run: OwnTool["run"], more: Partial<Tool> = {}): OwnTool => ({
  ...{ name, description, inputSchema: NOTHING, run },
  ...more,
});

const TOOLS: readonly OwnTool[] = [
  {
    name: "add",
    title: "Add two numbers",
    description: "Adds two numbers.",
    annotations: READS,
    inputSchema: { ...NUMBERS, examples: [{ a: 1, b: 2 }] } as Tool["inputSchema"],
    outputSchema: SUM,
    run({ a, b }) {
      const sum = Number(a) + Number(b);
      return { content: [{ type: "text", text: String(sum) }], structuredContent: { sum } };
    },
  },
  toTool(
    "draw",
    "Draws one pixel.",
    () => ({
      content: [
        { type: "text", text: "A pixel:" },
        { type: "image", data: PIXEL, mimeType: "image/png" },
        { type: "resource", resource: { uri: "test://pixel", mimeType: "text/plain", text: "one" } },
      ],
    }),
    { annotations: READS },
  ),
  toTool("refuse", "Says that it failed.", () => toText("The moon is <b>not</b> full", true), { annotations: READS }),
  toTool("lie", "Answers something else than it says.", () => ({ content: [], structuredContent: { sum: "three" } }), {
    annotations: READS,
    outputSchema: SUM,
  }),
  toTool("crash", "Ends the server.", () => process.exit(3)),
  toTool("hoard", "Takes 200 MB, and answers then.", async () => {
    hoard.push(Buffer.alloc(200 * 2 ** 20, 1));
    await new Promise((resolve) => setTimeout(resolve, 20_000));
    return toText(String(hoard.length));
  }),
  toTool(
    "show_self",
    "Its process and its variables.",
    () => toText(JSON.stringify({ pid: process.pid, env: process.env })),
    { annotations: READS },
  ),
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
