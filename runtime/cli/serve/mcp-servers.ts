import type { Clock, Log } from "../../api/capabilities.ts";
import type { UpstreamManifest } from "../../core/set/manifest.ts";
import { toEndpoint } from "../../drivers/http/endpoint.ts";
import { connectMcp, type McpAddress, type McpConnection, type McpUrl } from "../../drivers/mcp/connection.ts";
import { createToolServer, type LiveMcpServer } from "../../drivers/mcp/mcp-server.ts";
import { createProcessSlots } from "../../drivers/mcp/slots.ts";
import { createLeakCheck, type RepeatsCredential } from "../../drivers/upstream/leaks.ts";
import { keepPaces, type PaceOf } from "../../drivers/upstream/pace.ts";
import type { Env } from "../config/reader.ts";
import { secretsIn } from "../config/secrets.ts";
import type { ManifestSet } from "../set/load.ts";
import type { Located } from "./locate.ts";

export interface McpServersDeps {
  readonly set: Pick<ManifestSet, "site" | "home">;
  readonly env: Env;
  readonly locate: (upstream: UpstreamManifest) => Located;
  readonly paceOf?: PaceOf | undefined;
  /** Returns an open session in place of a connection; used for recordings. */
  readonly session?: ((upstream: UpstreamManifest) => McpConnection | undefined) | undefined;
  /** Whether servers are asked again at once after a failure: each call of a run of examples is asked for. */
  readonly neverRests?: boolean | undefined;
  readonly clock: Clock;
  readonly log: Log;
}

/** How many programs may run at once, for all upstreams together. */
const MOST_PROGRAMS = 16;
const MEGABYTE = 2 ** 20;

/** The MCP servers of a site, by id. None is connected or started before its first call. */
export function openMcpServers({
  set,
  env,
  locate,
  session,
  neverRests,
  clock,
  paceOf = keepPaces(clock),
  log,
}: McpServersDeps): ReadonlyMap<string, LiveMcpServer> {
  const slots = createProcessSlots(MOST_PROGRAMS);
  const listed = (set.site.upstreams ?? []).filter(({ mcp }) => mcp !== undefined);
  return new Map(
    listed.map((upstream) => {
      const { id, title, mcp, timeout_seconds = 30, calls = 16, rate, memory_mb = 512 } = upstream;
      const timeoutMs = timeout_seconds * 1000;
      const recorded = session?.(upstream);
      const address = mcp === "stdio" ? toProgram(upstream) : toMcpUrl(upstream, locate(upstream));
      const server = createToolServer({
        id,
        title,
        connect: recorded
          ? async () => recorded
          : typeof address === "string"
            ? undefined
            : () => connectMcp(address, timeoutMs),
        unset: typeof address === "string" ? address : "",
        repeatsCredential: typeof address === "string" ? () => false : leakCheckOf(upstream, address),
        timeoutMs,
        calls,
        pace: paceOf(id, rate),
        memoryBytes: memory_mb * MEGABYTE,
        slots: mcp === "stdio" ? slots : undefined,
        neverRests,
        clock,
        log,
      });
      return [id, server] as const;
    }),
  );

  function toProgram({ id, command = [], env: names = [] }: UpstreamManifest): McpAddress {
    const lent = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
    const path = env.PATH === undefined ? {} : { PATH: env.PATH };
    const onLine = (line: string): void => log.info("mcp.stderr", { upstream: id, line });
    return { command, env: { ...path, ...Object.fromEntries(lent) }, cwd: set.home, onLine };
  }

  /** The secrets that a program was given; its answers must not repeat them. */
  function leakCheckOf(upstream: UpstreamManifest, address: McpAddress): RepeatsCredential {
    const { query = {}, hidden = [] } = "url" in address ? locate(upstream) : {};
    if ("url" in address) return createLeakCheck(address, [...Object.values(query), ...hidden]);
    const lent = Object.entries(address.env).flatMap(([name, value]) => secretsIn(name, value));
    return createLeakCheck({ headers: {} }, lent);
  }
}

/** The address of a server over HTTP, or a sentence why there is none. */
export function toMcpUrl(
  { title, variable }: UpstreamManifest,
  { url, headers, query = {}, isOwn = false }: Located,
): McpUrl | string {
  if (isOwn) return `${title} is not recorded: start the sandbox with --online`;
  if (url === undefined) return `${title} needs ${variable}, which is not set`;
  const { url: address, headers: basic } = toEndpoint(url);
  for (const [name, value] of Object.entries(query)) address.searchParams.set(name, value);
  return { url: address.href, headers: { ...basic, ...headers } };
}
