import type { SiteTool } from "../../support/sources/tool-site.ts";

/** The credential of the site, which one of its tools repeats. */
export const KEY = "k-3f9a62c1d7";
const READS = { readOnlyHint: true };
const NOTHING = { type: "object" as const };
const NUMBERS = {
  type: "object" as const,
  properties: { a: { type: "number" }, b: { type: "number" } },
  required: ["a", "b"],
};

export const ADD: SiteTool = {
  name: "add",
  description: "Adds two numbers.",
  annotations: READS,
  inputSchema: { ...NUMBERS, examples: [{ a: 1, b: 2 }] } as SiteTool["inputSchema"],
  outputSchema: { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] },
  run: ({ a, b }) => ({ content: [], structuredContent: { sum: Number(a) + Number(b) } }),
};
export const toTool = (name: string, run: SiteTool["run"]): SiteTool => ({
  name,
  description: `Tries to ${name}.`,
  annotations: READS,
  inputSchema: NOTHING,
  run,
});
export const REFUSE = toTool("refuse", () => ({
  isError: true,
  content: [{ type: "text", text: "The moon is not full" }],
}));
export const REPEAT = toTool("repeat", () => ({ content: [{ type: "text", text: `you sent Bearer ${KEY}` }] }));
export const FETCH: SiteTool = {
  ...toTool("fetch", ({ url }) => ({ content: [{ type: "text", text: `read ${url}` }] })),
  inputSchema: { type: "object", properties: { url: { type: "string", format: "uri" } }, required: ["url"] },
};
/** Outputs that are no objects exist since protocol 2026. */
export const LIST = {
  ...toTool("list", () => ({ content: [{ type: "text", text: "[1,2]" }], structuredContent: [1, 2] as never })),
  outputSchema: { type: "array", items: { type: "number" } },
} as unknown as SiteTool;
export const EITHER = {
  ...LIST,
  name: "either",
  outputSchema: { anyOf: [{ type: "array", items: { type: "number" } }, { type: "object" }] },
} as unknown as SiteTool;
const NODE = { type: "object", properties: { next: { $ref: "#/$defs/Node" } } };
/** As zod and pydantic write the schema of a type that contains itself. */
export const NAMED = {
  ...toTool("named", (input) => ({ content: [], structuredContent: input })),
  inputSchema: { type: "object", $ref: "#/$defs/Node", $defs: { Node: NODE } },
  outputSchema: { $ref: "#/$defs/Node", $defs: { Node: NODE } },
} as unknown as SiteTool;
export const HANG = toTool("hang", () => new Promise<never>(() => {}));
