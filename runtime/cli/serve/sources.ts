import type { Cache, Clock, Log, Web } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { once } from "../../core/once.ts";
import { createSchemaNodes } from "../../core/schema/nodes.ts";
import { type Manifest, type UpstreamManifest, upstreamsOf } from "../../core/set/manifest.ts";
import type { Store } from "../../core/store.ts";
import { createGuardedFetch } from "../../drivers/http/guarded-fetch.ts";
import { createLlm, type LiveLlm, type LlmOptions } from "../../drivers/llm/llm.ts";
import type { McpConnection } from "../../drivers/mcp/connection.ts";
import type { LiveMcpServer } from "../../drivers/mcp/mcp-server.ts";
import { createSchedule, type OpenSchedule } from "../../drivers/schedule.ts";
import { createCache } from "../../drivers/store/cache.ts";
import { keepPaces, type PaceOf } from "../../drivers/upstream/pace.ts";
import { createHttpTransport, type Transport } from "../../drivers/upstream/transport.ts";
import { createUpstream, type LiveUpstream, type UpstreamOptions } from "../../drivers/upstream/upstream.ts";
import { toSelfContained } from "../../surfaces/schema/self-contained.ts";
import type { Config } from "../config/config.ts";
import type { ManifestSet } from "../set/load.ts";
import { type Located, locate } from "./locate.ts";
import { openMcpServers } from "./mcp-servers.ts";

/** The sources that a sandbox replaces. */
export interface SourcesOverride {
  readonly locate: (upstream: UpstreamManifest) => Located;
  readonly wrap: (live: Transport) => Transport;
  /** A session that answers from the recordings of an MCP server. */
  readonly session?: (upstream: UpstreamManifest) => McpConnection | undefined;
  /** Whether MCP servers are asked again at once after a failure. */
  readonly neverRests?: boolean;
  readonly llm?: { readonly endpoint: NonNullable<Config["llm"]>; readonly fetch: typeof fetch } | undefined;
}

export interface SourcesDeps {
  readonly set: ManifestSet;
  /** Sets whose services are no longer offered, but still ask their sources. Oldest first. */
  readonly retired?: readonly ManifestSet[] | undefined;
  readonly config: Config;
  /** Those of all sets of the process; when omitted, these sources have their own. */
  readonly paceOf?: PaceOf | undefined;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly override?: SourcesOverride | undefined;
  /** Wraps the transport of every attempt at an upstream. */
  readonly watch?: ((transport: Transport) => Transport) | undefined;
}

/** The sources that plugins read, and the plugins' caches. Nothing is connected before its first use. */
export interface Sources {
  /** By id. */
  readonly upstreams: ReadonlyMap<string, LiveUpstream>;
  /** By upstream id. */
  readonly mcpServers: ReadonlyMap<string, LiveMcpServer>;
  readonly llm: LiveLlm;
  readonly web: Web;
  readonly schedule: OpenSchedule;
  cacheOf(plugin: string): Cache;
  /**
   * Why a service is not sold at present: it has no language model or, where it is paid first, this or an upstream is paused.
   * Others are tried, since a failure costs nobody anything. Undefined when it is sold.
   * @param isFirst whether this payer pays first; by default, whether everybody does
   */
  explain(manifest: Manifest, isFirst?: boolean): string | undefined;
  /**
   * Nobody pays first for a proxied service whose request would wait for its turn, as `rate` has it, for more than half of
   * its deadline: others may be paying, too.
   * @throws Problem `unavailable`
   */
  refuseWait(manifest: Manifest): void;
  /** Starts the background work of plugins. */
  start(): void;
  close(): Promise<void>;
}

/** Opens the sources of a set; `close` ends their connections. */
export function openSources({
  set,
  retired = [],
  config,
  store,
  clock,
  paceOf = keepPaces(clock),
  log,
  override,
  watch = (seen) => seen,
}: SourcesDeps): Sources {
  const http = createHttpTransport();
  const web = createGuardedFetch();
  const schedule = createSchedule({ log });
  const transport = watch(override?.wrap(http.send) ?? http.send);
  const isRetired = (upstream: UpstreamManifest): boolean =>
    retired.some(({ site }) => site.upstreams?.includes(upstream));
  const find = (upstream: UpstreamManifest): Located => {
    try {
      return override ? override.locate(upstream) : locate(upstream, config.env);
    } catch (error) {
      if (!isRetired(upstream)) throw error;
      log.warn("upstream.retired-unable", { upstream: upstream.id, error });
      return { url: undefined, headers: {} }; // Calls fail, uncharged.
    }
  };
  const read = new Set([...retired, set].flatMap(({ manifests }) => manifests).flatMap(upstreamsOf));
  // `serve` asks for no address of what no service reads: without one, nothing is missing.
  const opened = (set.site.upstreams ?? []).filter(
    (upstream) => read.has(upstream.id) || upstream.mcp === "stdio" || find(upstream).url !== undefined,
  );
  const mcpServers = openMcpServers({
    set: { ...set, site: { ...set.site, upstreams: opened } },
    env: config.env,
    locate: find,
    paceOf,
    session: override?.session,
    neverRests: override?.neverRests,
    clock,
    log,
  });
  const overHttp = opened.filter(({ mcp }) => mcp === undefined);
  const upstreams = overHttp.map((upstream) => {
    const { url, headers, query, hidden, isOwn = false } = find(upstream);
    const { id, title, variable, timeout_seconds = 5, retries = 2, rate, breaker } = upstream;
    const bounds = {
      timeoutMs: timeout_seconds * 1000,
      retries,
      pace: paceOf(`${id} ${url}`, isOwn ? undefined : rate),
      ...toBreaker(breaker),
    };
    return createUpstream({ id, title, url, variable, headers, query, hidden, ...bounds, transport, clock, log });
  });
  const endpoint = override?.llm?.endpoint ?? config.llm;
  const byId = new Map(upstreams.map((upstream) => [upstream.id, upstream]));
  const fetch = override?.llm && { fetch: override.llm.fetch };
  const llm = createLlm({ endpoint, ...toLlmTerms([...retired, set]), ...fetch, clock, log });
  return {
    upstreams: byId,
    mcpServers,
    llm,
    explain(manifest, isFirst = isPaidFirst(manifest)) {
      const needsLlm = manifest.needs?.includes("LLM_BASE_URL") === true;
      if (needsLlm && !endpoint) return "No language model is configured: set LLM_BASE_URL and LLM_MODEL";
      if (!isFirst) return undefined;
      // Many plugins deliver without an upstream that is down.
      const needed = manifest.proxy || manifest.charge === "first" ? upstreamsOf(manifest) : [];
      const reasons = needed.map((id) => byId.get(id)?.outage() ?? mcpServers.get(id)?.outage());
      return reasons.find((reason) => reason) ?? (needsLlm ? llm.outage() : undefined);
    },
    refuseWait(manifest) {
      const { proxy, job, deadline_seconds = set.site.limits.deadline_seconds } = manifest;
      const mostMs = ((job?.deadline_seconds ?? deadline_seconds) * 1000) / 2;
      const asked = (proxy ? upstreamsOf(manifest) : []).map((id) => byId.get(id) ?? mcpServers.get(id));
      const late = asked.find((source) => source && source.waitMs() > mostMs);
      if (!late) return;
      const detail = `${late.title} is asked as often as it may be, and others are in line; nothing was charged`;
      throw new Problem("unavailable", detail, { retryAfter: Math.ceil((late.waitMs() - mostMs) / 1000) });
    },
    web,
    schedule,
    cacheOf: (plugin) => createCache({ store, namespace: plugin, clock, log }),
    start: schedule.start,
    async close() {
      await schedule.close();
      await Promise.all([http.close(), web.close(), ...[...mcpServers.values()].map((server) => server.close())]);
    },
  };
}

/** Whether everybody pays for a service before its work. */
const isPaidFirst = ({ charge, job, price }: Manifest): boolean =>
  charge === "first" || (job !== undefined && price !== undefined);

const toBreaker = (breaker: UpstreamManifest["breaker"]): Pick<UpstreamOptions, "breaker"> =>
  breaker ? { breaker: { failures: breaker.failures, openMs: breaker.seconds * 1000 } } : {};

/** The limits and output schemas of services that ask the language model; those of a later set take precedence. */
function toLlmTerms(sets: readonly ManifestSet[]): Pick<LlmOptions, "limitsOf" | "schemaOf"> {
  const asking = sets.flatMap(({ manifests, schemas }) => {
    const nodes = once(() => createSchemaNodes(schemas));
    return manifests.filter(({ llm }) => llm).map((manifest) => [manifest.id, { manifest, schemas, nodes }] as const);
  });
  const byId = new Map(asking);
  return {
    limitsOf: (service) => byId.get(service)?.manifest.llm,
    schemaOf(service) {
      const own = byId.get(service);
      if (!own) return undefined;
      const { manifest, schemas, nodes } = own;
      const document = typeof manifest.output === "string" ? schemas.get(manifest.output) : manifest.output;
      if (!document || !JSON.stringify(document).includes('"$ref":')) return document;
      nodes().add(document);
      return toSelfContained(document, nodes().resolve); // The endpoint has no other files.
    },
  };
}
