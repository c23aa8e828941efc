import { Problem } from "../../api/problem.ts";
import { toIssueText } from "../../core/schema/issues.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { keysOf, type Manifest, type UpstreamManifest } from "../../core/set/manifest.ts";
import { findForeignFaults } from "../../drivers/foreign-schema.ts";
import { connectMcp } from "../../drivers/mcp/connection.ts";
import type { ListedTool } from "../../drivers/mcp/tool-list.ts";
import type { Config } from "../config/config.ts";
import type { Env } from "../config/reader.ts";
import { locate } from "../serve/locate.ts";
import { toMcpUrl } from "../serve/mcp-servers.ts";
import type { ManifestSet } from "../set/load.ts";
import { type Found, type LiveFinding, probe } from "./probe.ts";

/** Less than a probe may take. */
const ANSWER_MS = 8000;

/**
 * Probes whether each MCP server over HTTP takes the credential, and lists the tools that are sold with schemas that take the
 * examples. No tool is called.
 */
export const probeTools = (config: Config, { site, manifests, compile }: ManifestSet): Promise<LiveFinding>[] =>
  (site.upstreams ?? []).flatMap((upstream) => {
    const sold = manifests.filter(({ proxy }) => proxy?.mcp === upstream.id);
    if (upstream.mcp !== "http" || sold.length === 0) return [];
    return [
      probe(`source: ${upstream.title}`, async (): Promise<Found> => {
        const tools = await listTools(upstream, config.env);
        const changes = sold.flatMap((manifest) => explainChange(manifest, tools, compile));
        if (changes.length === 0) return `lists the tools that are sold: ${sold.length}`;
        return { state: "warning", found: `${changes.join("; ")}; import what has changed anew` };
      }),
    ];
  });

async function listTools(upstream: UpstreamManifest, env: Env): Promise<readonly ListedTool[]> {
  const address = toMcpUrl(upstream, locate(upstream, env));
  if (typeof address === "string") throw new Problem("bad-request", address);
  const session = await connectMcp(address, ANSWER_MS).catch((error: Error & { readonly status?: number }) => {
    if (error.status !== 401 && error.status !== 403) throw error;
    const names = keysOf(upstream).map(({ variable }) => variable);
    const unset = names.filter((name) => !env[name]?.trim());
    const remedy = unset.length > 0 ? `set ${unset.join(", ")}` : `look at ${names.join(", ") || "key in _site.yaml"}`;
    throw new Problem("bad-request", `it refuses the credential (status ${error.status}): ${remedy}`);
  });
  try {
    return (await session.callable?.(ANSWER_MS)) ?? [];
  } finally {
    await session.close();
  }
}

function explainChange(
  { id, proxy, input, examples }: Manifest,
  tools: readonly ListedTool[],
  compile: Compile,
): string[] {
  const tool = tools.find(({ name }) => name === proxy?.tool);
  if (!tool) return [`${id}: it no longer lists ${proxy?.tool}`];
  const sent = compile(input).check(examples[0]?.input, "body", "passed").value as object;
  const faults = toIssueText(findForeignFaults(tool.inputSchema, sent, "body"));
  return faults === "" ? [] : [`${id}: ${proxy?.tool} takes other input: ${faults}`];
}
