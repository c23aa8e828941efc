import { toJsonReply } from "../reply/reply.ts";
import type { Methods } from "./resource.ts";

/** What `GET /ready` says. Only `unavailable` (nothing can be sold or served) is answered with 503. */
export interface ReadyReport {
  readonly status: "ready" | "degraded" | "unavailable";
  readonly store: "up" | "down";
  readonly rails: readonly {
    readonly id: string;
    readonly network: string;
    readonly state: "up" | "down";
    readonly reason?: string;
  }[];
  /** What services read. `down`: it failed again and again and is left alone for a while, or nothing says where it is. */
  readonly upstreams: readonly { readonly id: string; readonly state: "up" | "down"; readonly reason?: string }[];
  readonly services: readonly { readonly id: string; readonly state: "up" | "down"; readonly reason?: string }[];
}

/** `/health`: this process answers. `/ready`: what it can do; probes that meet share one report. */
export function createProbes(name: string, ready: () => Promise<ReadyReport>): ReadonlyMap<string, Methods> {
  const alive = toJsonReply({ status: "ok", service: name });
  let asked: Promise<ReadyReport> | undefined;
  return new Map<string, Methods>([
    ["/health", { GET: () => alive }],
    [
      "/ready",
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
