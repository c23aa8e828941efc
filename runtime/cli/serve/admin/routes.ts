import { statSync } from "node:fs";
import packageJson from "../../../../package.json" with { type: "json" };
import { Problem } from "../../../api/problem.ts";
import { isObject, tryParseJson } from "../../../core/json.ts";
import type { AdminRequest, AdminRoute } from "../../../server/admin/routes.ts";
import { type Reply, toJsonReply } from "../../../server/reply/reply.ts";
import type { ReadyReport } from "../../../server/routes/status.ts";
import { listKeptPackages } from "../../set/plugins/packages.ts";
import { countModules } from "../../set/plugins/versions.ts";
import type { Changes } from "../change/changes.ts";
import type { Swap } from "../change/swap.ts";
import type { Presence, PresenceBoard } from "./presence.ts";

/** What the admin routes read and change. */
export interface AdminParts {
  readonly swap: Swap;
  readonly changes: Changes;
  readonly presence: PresenceBoard;
  /** The URL at which buyers reach this process, and the public address. */
  readonly url: string;
  readonly baseUrl: string;
}

/** The answer of `GET /status`. */
export interface StatusReport extends Pick<Presence, "pid" | "version" | "url" | "set"> {
  readonly uptime_seconds: number;
  readonly public_url: string;
  /** The number of plugin modules imported since the start, for all sets. Node cannot unload modules. */
  readonly modules: number;
  /** How many of them were imported for the first set. */
  readonly modules_at_start: number;
  /** What only a restart will change in plugins: a sentence each. */
  readonly kept: readonly string[];
  /** Earlier sets that still have work in flight. */
  readonly retiring: number;
  readonly memory_bytes: number;
  /** Jobs that wait or run, in all processes, by service; none while they cannot be counted: `ready` says why. */
  readonly jobs: Readonly<Record<string, number>>;
  /** All processes on the store; this one alone while the store does not answer. */
  readonly processes: readonly Presence[];
  readonly ready: ReadyReport;
}

/** The routes of the admin listener. A route that changes the shop is `isLocal`. */
export function toAdminRoutes(parts: AdminParts): readonly AdminRoute[] {
  const { changes, swap } = parts;
  const modulesAtStart = countModules();
  const local = (method: AdminRoute["method"], path: string, work: (request: AdminRequest) => Promise<unknown>) => ({
    method,
    path,
    isLocal: true,
    handle: async (request: AdminRequest): Promise<Reply> => toJsonReply(await work(request)),
  });
  return [
    { method: "GET", path: "/status", handle: async () => toJsonReply(await toStatus(parts, modulesAtStart)) },
    local("GET", "/diff", async ({ query }) => {
      refuseOther(query.get("dir"), swap.current().set.home);
      return changes.diff();
    }),
    local("GET", "/history", () => changes.history()),
    local("POST", "/apply", async (request) => {
      const { by, dir } = await readOrder(request);
      refuseOther(dir, swap.current().set.home);
      return changes.apply(by);
    }),
    local("POST", "/rollback", async (request) => {
      const { by, to, steps } = await readOrder(request);
      return changes.rollback(to ?? steps, by);
    }),
    local("POST", "/trust", async (request) => {
      const { facilitator } = await readOrder(request);
      if (facilitator === undefined) throw new Problem("bad-request", "facilitator is missing");
      return { pardoned: await swap.current().composition.trustAgain(facilitator) };
    }),
  ];
}

/** The body of a request that changes the shop. */
interface Order {
  readonly by: string;
  /** How many sets to go back. */
  readonly steps: number;
  /** The digest of the set to go back to; takes the place of `steps`. */
  readonly to: string | undefined;
  /** The facilitator to trust again. */
  readonly facilitator: string | undefined;
  /** The folder that the command means. */
  readonly dir: string | undefined;
}

async function readOrder(request: AdminRequest): Promise<Order> {
  const order = tryParseJson(await request.body());
  if (!isObject(order) || typeof order.by !== "string") throw new Problem("bad-request", "The order names nobody");
  const { by, steps = 1, to, facilitator, dir } = order;
  if (!Number.isInteger(steps) || (steps as number) < 1) throw new Problem("bad-request", "steps is a whole number");
  if (to !== undefined && typeof to !== "string") throw new Problem("bad-request", "to is the digest of a set");
  if (facilitator !== undefined && typeof facilitator !== "string")
    throw new Problem("bad-request", "facilitator is a name");
  if (dir !== undefined && typeof dir !== "string") throw new Problem("bad-request", "dir is a folder");
  return { by: by.slice(0, 80), steps: steps as number, to, facilitator, dir };
}

/**
 * @throws Problem `bad-request` when a command means another folder than the one that this process sells. A folder that
 *   only the command can see, as outside of a container, is believed.
 */
function refuseOther(dir: string | null | undefined, home: string): void {
  const [meant, sold] = [dir, home].map(identify);
  if (meant === undefined || meant === sold) return;
  const why = `The process that runs sells the folder ${home}, and not ${dir}`;
  throw new Problem("bad-request", `${why}: give the command in the former, or start the shop again in the latter`);
}

/** Undefined for a folder that cannot be looked at. */
function identify(dir: string | null | undefined): string | undefined {
  try {
    const { dev, ino } = statSync(dir ?? "");
    return `${dev} ${ino}`;
  } catch {
    return undefined;
  }
}

async function toStatus(
  { swap, changes, presence, url, baseUrl }: AdminParts,
  modulesAtStart: number,
): Promise<StatusReport> {
  const { composition } = swap.current();
  const [jobs, processes, ready] = await Promise.all([
    composition.jobsInLine().catch(() => []),
    presence.list(),
    composition.ready(),
  ]);
  return {
    pid: process.pid,
    version: packageJson.version,
    uptime_seconds: Math.floor(process.uptime()),
    url,
    public_url: baseUrl,
    set: changes.digest(),
    modules: countModules(),
    modules_at_start: modulesAtStart,
    kept: listKeptPackages(),
    retiring: swap.retiring(),
    memory_bytes: process.memoryUsage.rss(),
    jobs: Object.fromEntries(jobs),
    processes,
    ready,
  };
}
