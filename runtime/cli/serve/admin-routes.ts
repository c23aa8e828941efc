import packageJson from "../../../package.json" with { type: "json" };
import type { AdminRoute } from "../../server/admin/routes.ts";
import { toJsonReply } from "../../server/reply/reply.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import { countModules } from "../set/plugin-versions.ts";
import type { Swap } from "./swap.ts";

/** What the operator may look at and change. */
export interface AdminParts {
  readonly swap: Swap;
  /** Where buyers reach this process, and the public address. */
  readonly url: string;
  readonly baseUrl: string;
}

/** What `GET /status` answers. */
export interface StatusReport {
  readonly pid: number;
  readonly version: string;
  readonly uptime_seconds: number;
  readonly url: string;
  readonly public_url: string;
  /** Modules of plugins, of all sets since the start: none can be unloaded. */
  readonly modules: number;
  /** Earlier sets that still have work in flight. */
  readonly retiring: number;
  readonly memory_bytes: number;
  readonly ready: ReadyReport;
}

/** The routes of the admin listener. A route that changes the shop is `isLocal`. */
export const toAdminRoutes = (parts: AdminParts): readonly AdminRoute[] => [
  { method: "GET", path: "/status", handle: async () => toJsonReply(await toStatus(parts)) },
];

async function toStatus({ swap, url, baseUrl }: AdminParts): Promise<StatusReport> {
  return {
    pid: process.pid,
    version: packageJson.version,
    uptime_seconds: Math.floor(process.uptime()),
    url,
    public_url: baseUrl,
    modules: countModules(),
    retiring: swap.retiring(),
    memory_bytes: process.memoryUsage.rss(),
    ready: await swap.current().composition.ready(),
  };
}
