import type { SiteManifest } from "../../core/set/manifest.ts";

export interface ServerCardOptions {
  readonly site: Pick<SiteManifest, "name" | "title" | "description" | "version">;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
  /** Absolute URLs. */
  readonly endpoint: string;
  readonly icon: string;
}

/** The longest description, in characters, that MCP's registry accepts. */
const LONGEST = 100;

/** The card at `/.well-known/mcp/server-card.json`, in the form of MCP's registry (server.json, schema of 2025-12-11). */
export function toServerCard({ site, baseUrl, endpoint, icon }: ServerCardOptions): object {
  return {
    $schema: "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: `${toNamespace(new URL(baseUrl).hostname)}/${site.name}`,
    title: site.title,
    description: toShort(site.description),
    version: site.version,
    websiteUrl: baseUrl,
    // The registry accepts https icons only.
    ...(icon.startsWith("https:") && { icons: [{ src: icon, mimeType: "image/png", sizes: ["256x256"] }] }),
    remotes: [{ type: "streamable-http", url: endpoint }],
  };
}

/** `pay.example.com` becomes `com.example.pay`; an IP address becomes `localhost`. */
function toNamespace(hostname: string): string {
  const isName = /^(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9.-]+$/i.test(hostname);
  return isName ? hostname.split(".").reverse().join(".") : "localhost";
}

/** As many whole sentences as fit, or else as many whole words. */
function toShort(text: string): string {
  if (text.length <= LONGEST) return text;
  const [sentences] = /^.*[.!?](?=\s)/s.exec(text.slice(0, LONGEST + 1)) ?? [];
  return sentences ?? `${text.slice(0, LONGEST - 1).replace(/\s+\S*$/, "")}…`;
}
