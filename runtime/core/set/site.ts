import type { Path } from "../schema/nodes.ts";
import type { SiteDraft } from "./draft.ts";
import { type Fault, faultAt, faultAtKey } from "./faults.ts";
import type { UpstreamManifest, WebhookManifest } from "./manifest.ts";

/** How long before the end of an offer a call must end, so that its payment can still be settled. */
export const SETTLE_SECONDS = 30;

/** Checks the values of `_site.yaml` against each other, except the rails. */
export function checkSite(site: SiteDraft): Fault[] {
  const { upstreams = [], webhooks = [] } = site.data;
  return [
    ...upstreams.flatMap((_, at) => checkUpstream(site, upstreams, at)),
    ...webhooks.flatMap((_, at) => checkWebhook(site, webhooks, at)),
    ...checkLimits(site),
  ];
}

function checkUpstream(site: SiteDraft, upstreams: readonly UpstreamManifest[], at: number): Fault[] {
  const upstream = upstreams[at] as UpstreamManifest;
  const { id, url, variable } = upstream;
  const path = ["upstreams", at];
  const first = upstreams.findIndex((upstream) => upstream.id === id);
  if (first !== at)
    return [faultAt(site, [...path, "id"], "duplicate-upstream", `upstreams[${first}] has the same id`)];
  const ofMcp = checkMcpServer(site, upstream, path);
  if (ofMcp.length > 0 || upstream.mcp === "stdio" || url !== undefined || variable !== undefined) return ofMcp;
  const complaint = "is missing, and so is variable: one of them must say where the source is";
  return [{ ...faultAtKey(site, [...path, "url"], "missing-key", complaint), ...site.locate(path, "key") }];
}

/** A server over standard input and output has a command instead of a URL. */
function checkMcpServer(site: SiteDraft, upstream: UpstreamManifest, path: Path): Fault[] {
  const misplaced = (keys: readonly (keyof UpstreamManifest)[], complaint: string): Fault[] =>
    keys
      .filter((key) => upstream[key] !== undefined)
      .map((key) => faultAtKey(site, [...path, key], "unknown-key", complaint));
  const ofKind = upstream.mcp
    ? misplaced(["retries", "breaker"], "an MCP server has none: no call is repeated, and after a failure it is paused")
    : misplaced(["calls"], "only an MCP server has it");
  if (upstream.mcp !== "stdio")
    return [...ofKind, ...misplaced(["command", "env", "memory_mb"], "only an upstream with `mcp: stdio` has it")];
  if (upstream.command === undefined) {
    const missing = faultAtKey(site, [...path, "command"], "missing-key", "is missing: the program and its arguments");
    return [{ ...missing, ...site.locate(path, "key") }];
  }
  const ofAddress: (keyof UpstreamManifest)[] = ["url", "variable", "key", "keys", "network"];
  return [...ofKind, ...misplaced(ofAddress, "a server over standard input and output has no address")];
}

function checkWebhook(site: SiteDraft, webhooks: readonly WebhookManifest[], at: number): Fault[] {
  const { id, url, variable } = webhooks[at] as WebhookManifest;
  const first = webhooks.findIndex((webhook) => webhook.id === id);
  if (first !== at) return [faultAt(site, ["webhooks", at, "id"], "bad-webhook", `webhooks[${first}] has the same id`)];
  if (url === undefined && variable === undefined)
    return [faultAt(site, ["webhooks", at, "id"], "bad-webhook", "one of url and variable must say where it is")];
  if (url === undefined || isPrivateUrl(url)) return [];
  return [faultAt(site, ["webhooks", at, "url"], "bad-webhook", "must be https, or on this machine")];
}

/** Whether what is sent to a URL cannot be read on the way: https, or this machine. */
export const isPrivateUrl = (address: string): boolean => new URL(address).protocol === "https:" || isLocalUrl(address);

/** Whether a URL leads to this machine. */
export function isLocalUrl(address: string): boolean {
  const { hostname } = new URL(address);
  return hostname === "localhost" || hostname === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

function checkLimits(site: SiteDraft): Fault[] {
  const { limits } = site.data;
  if (!limits) return [];
  const most = limits.offer_seconds - SETTLE_SECONDS;
  if (limits.deadline_seconds <= most) return [];
  const complaint = `must be at most ${most}: offer_seconds less the ${SETTLE_SECONDS} that settling may take`;
  return [faultAt(site, ["limits", "deadline_seconds"], "deadline-too-long", complaint)];
}
