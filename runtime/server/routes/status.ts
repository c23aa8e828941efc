import { PATHS } from "../../core/paths.ts";
import { toJsonReply } from "../reply/reply.ts";
import type { Methods } from "./resource.ts";

/** The body of `GET /ready`. Its status is 503 when `unavailable` (nothing can be sold or served), otherwise 200. */
export interface ReadyReport {
  readonly status: "ready" | "degraded" | "unavailable";
  readonly store: "up" | "down";
  /** Why the store is down, as a sentence. */
  readonly store_reason?: string;
  readonly rails: readonly (PartState & { readonly network: string })[];
  /** The upstreams of services, MCP servers too. `down`: paused after repeated failures, or not configured. */
  readonly upstreams: readonly PartState[];
  readonly services: readonly PartState[];
  /** Facilitators that are skipped because they are not trusted any more; omitted when there are none. */
  readonly distrusted?: readonly {
    readonly facilitator: string;
    readonly network: string;
    readonly reason: string;
    /** ISO 8601. */
    readonly since: string;
  }[];
  /** Sentences for the operator about parts that are up but need attention; omitted when there are none. */
  readonly warnings?: readonly string[];
}

interface PartState {
  readonly id: string;
  readonly state: "up" | "down";
  readonly reason?: string;
}

/** `/health` tells that the process answers, `/ready` what it can serve. Concurrent probes share one report. */
export function createProbes(name: string, ready: () => Promise<ReadyReport>): ReadonlyMap<string, Methods> {
  const alive = toJsonReply({ status: "ok", service: name });
  let asked: Promise<ReadyReport> | undefined;
  return new Map<string, Methods>([
    [PATHS.health, { GET: () => alive }],
    [
      PATHS.ready,
      {
        GET: async () => {
          asked ??= ready().finally(() => {
            asked = undefined;
          });
          const report = await asked;
          return toJsonReply(report, report.status === "unavailable" ? 503 : 200);
        },
      },
    ],
  ]);
}
