import { randomUUID } from "node:crypto";
import { Problem } from "../../api/problem.ts";
import { keysOf, type UpstreamManifest, upstreamsOf } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import type { Rail } from "../../core/x402/rails.ts";
import type { Facilitator } from "../../core/x402/x402.ts";
import { toEndpoint } from "../../drivers/http/endpoint.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import { openServer } from "../../server/listen.ts";
import { toColumns } from "../columns.ts";
import type { Config } from "../config/config.ts";
import { explainLeftStore } from "../config/left-store.ts";
import type { Env } from "../config/reader.ts";
import { openTracing } from "../monitor/tracing.ts";
import { printable } from "../printable.ts";
import { locate } from "../serve/locate.ts";
import type { ManifestSet } from "../set/load.ts";
import { lookAtNode, type NodePlace, probeRails, probeTreasury } from "./chains.ts";
import { type Found, type LiveFinding, probe } from "./probe.ts";
import { probeTools } from "./tools.ts";

export interface LiveParts {
  readonly config: Config;
  readonly set: ManifestSet;
  readonly rails: readonly Rail[];
  readonly store: Pick<OpenStore, "ping" | "warnings">;
  /** The capabilities that plugins take from `Host`. */
  readonly capabilities: ReadonlySet<string>;
}

/** Probes all outside services that a complete configuration names. Nothing is sold, signed or sent. */
export async function lookAtWorld({ config, set, rails, store, capabilities }: LiveParts): Promise<LiveFinding[]> {
  const { site } = set;
  return Promise.all([
    probe("state", async (): Promise<Found> => {
      await store.ping();
      const left = await explainLeftStore(config);
      const warnings = [...store.warnings(), ...(left === undefined ? [] : [left])];
      return warnings.length > 0 ? { state: "warning", found: warnings.join("; ") } : "can be read and written";
    }),
    ...probeRails(config, site),
    ...rails.flatMap(probeFacilitators),
    ...probeTreasury(config, site, capabilities),
    ...probeSources(config, set),
    ...probeTools(config, set),
    probe("public address", (signal) => lookFromOutside(config, signal)),
    ...probePages(config),
    ...probeTraces(config),
  ]);
}

/** Probes every facilitator of a rail, since a facilitator that does not answer is skipped in operation. */
function probeFacilitators({ manifest: { title, network }, facilitator }: Rail): Promise<LiveFinding>[] {
  const ask = async (one: Pick<Facilitator, "supported">, signal: AbortSignal): Promise<Found> => {
    const kinds = await one.supported(signal);
    const isThere = kinds.some((kind) => kind.x402Version === 2 && kind.scheme === "exact" && kind.network === network);
    if (isThere) return `takes "exact" on ${network}`;
    return { state: "failed", found: `does not take "exact" on ${network}` };
  };
  const members = (facilitator.members ?? []).map(async ({ name, facilitator: one }) => {
    const finding = await probe(`${title}: facilitator ${name}`, (signal) => ask(one, signal));
    return finding.state === "failed" ? { ...finding, state: "warning" as const } : finding;
  });
  return [probe(`${title}: facilitator`, (signal) => ask(facilitator, signal)), ...members];
}

/**
 * Probes whether nodes are of their chains, and other upstreams answer at all. The status of these means nothing here,
 * because each has its own paths; no credential is sent to them.
 */
function probeSources(config: Config, { site, drafts }: ManifestSet): Promise<LiveFinding>[] {
  const used = new Set(drafts.flatMap(({ data }) => upstreamsOf(data)));
  const proxied = new Set(drafts.map(({ data }) => data.proxy?.upstream));
  const sources: Source[] = (site.upstreams ?? []).flatMap((upstream) => {
    const { id, title, url: usual, variable, mcp, network } = upstream;
    // The node of a rail is looked at there. With test rails, services read the test network.
    const isRails = site.rails.some(
      (rail) => rail.rpc === variable && (rail.testnet || network === undefined || network === rail.network),
    );
    const url = (variable && config.env[variable]) || usual;
    const keys = proxied.has(id) ? keysOf(upstream).map((key) => key.variable) : [];
    const unset = keys.filter((name) => !config.env[name]?.trim());
    const node = network === undefined ? undefined : (): NodePlace => ({ ...toPlace(upstream, config.env), network });
    return used.has(id) && url && !mcp && !isRails ? [{ what: `source: ${title}`, url, node, unset }] : [];
  });
  if (config.llm && drafts.some(({ data }) => data.llm))
    sources.push({ what: "language model", url: config.llm.baseUrl, unset: [] });
  return sources.map(({ what, url, node, unset }) =>
    probe(what, async (signal) => {
      if (node) return lookAtNode(node(), signal);
      const { url: address, headers } = toEndpoint(url);
      const response = await fetch(address, { headers, signal, redirect: "manual" });
      await response.body?.cancel();
      if (response.status >= 500) return { state: "warning", found: `${address.host} answers ${response.status}` };
      if (unset.length === 0) return `${address.host} answers`;
      return { state: "warning", found: `${address.host} answers; its credential is not set: ${unset.join(", ")}` };
    }),
  );
}

interface Source {
  readonly what: string;
  readonly url: string;
  /** For a node. */
  readonly node?: (() => NodePlace) | undefined;
  /** The variables of credentials that are not set. */
  readonly unset: readonly string[];
}

/** Where a node is, as services ask it. @throws Problem `bad-request` for a malformed value. */
function toPlace(upstream: UpstreamManifest, env: Env): Pick<NodePlace, "url" | "headers"> {
  const { url = "", headers, query = {} } = locate(upstream, env);
  const asked = new URL(url);
  for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, value);
  return { url: asked.href, headers };
}

/** Requests the public address and checks that the answer comes from this process, or from a running server. */
async function lookFromOutside(config: Config, signal: AbortSignal): Promise<Found> {
  const { host, port, publicBaseUrl = "", trustProxy } = config;
  const token = randomUUID();
  let isForwarded = false;
  const server = await openServer({ host, port }).catch((error: unknown) => {
    if (error instanceof Problem) return undefined; // The port is in use: the shop is running.
    throw error;
  });
  try {
    server?.attach(({ headers }, response) => {
      isForwarded ||= headers["x-forwarded-for"] !== undefined;
      response.end(token);
    });
    const asked = `${publicBaseUrl}/health`;
    const response = await fetch(asked, { signal, redirect: "manual" }).catch((error: Error) => {
      const lead = `${publicBaseUrl} has to lead to ${host}:${port}: look at PORT and HOST, and at the proxy in front`;
      throw new Problem("upstream-failed", `Nothing answers there. ${lead}`, { cause: error.cause ?? error });
    });
    const text = await response.text();
    const isOurs = server ? text === token : response.status === 200 && text.includes('"service"');
    const place = `${publicBaseUrl} leads to ${server ? "this process" : "a running server"}`;
    if (isOurs && isForwarded && trustProxy === 0) {
      const why = "through a proxy that TRUST_PROXY does not name: all buyers share the limits of its address";
      return { state: "warning", found: `${place}, ${why}` };
    }
    if (isOurs) return place;
    const found = `${asked} answers ${response.status}, but not from ${host}:${port}: check the proxy and PUBLIC_BASE_URL`;
    return { state: "failed", found };
  } finally {
    await server?.close({ graceMs: 0 });
  }
}

/**
 * Probes whether the operator's pages are to have the port on which the shop sells. A free port shows whether both hosts
 * share ports, since the one that is meant may be in use by the shop itself.
 */
function probePages({ host, port, admin }: Config): Promise<LiveFinding>[] {
  if (admin.port === undefined) return [];
  const look = async (): Promise<Found> => {
    const place = `${admin.host}:${admin.port}`;
    if (admin.port !== port || port === 0) return place;
    const shop = await openServer({ host, port: 0 });
    try {
      const variables = { host: "ADMIN_HOST", port: "ADMIN_PORT" };
      const pages = await openServer({ host: admin.host, port: shop.port, variables });
      await pages.close({ graceMs: 0 });
      return place;
    } catch (error) {
      const { code } = (error as Problem).cause as NodeJS.ErrnoException;
      if (code !== "EADDRINUSE") throw error;
      return { state: "failed", found: `${place} is also where the shop sells: set ADMIN_PORT to another port` };
    } finally {
      await shop.close({ graceMs: 0 });
    }
  };
  return [probe("operator's pages", look)];
}

/** Probes whether what traces need is installed: `serve` starts without it only where no collector is named. */
function probeTraces(config: Config): Promise<LiveFinding>[] {
  if (config.collector === undefined) return [];
  const look = async (): Promise<Found> => {
    const tracing = await openTracing(config, silentLog);
    await tracing.close();
    return "OpenTelemetry's packages are installed";
  };
  return [probe("traces", look)];
}

/** One line for each. They repeat what nodes and servers say. */
export const toFindingTable = (findings: readonly LiveFinding[]): string =>
  toColumns(findings.map(({ what, state, found }) => [MARKS[state], what, printable(found)])).join("\n");

const MARKS: Readonly<Record<LiveFinding["state"], string>> = { ok: "ok", warning: "!", failed: "FAILED" };
