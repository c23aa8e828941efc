import type { QueuedJob } from "../../core/jobs/queue.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import type { ShopState } from "../../drivers/metrics/metrics.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import type { Trouble } from "../../surfaces/pages/seller/view.ts";

/** Problems that need a person, the worst first, each with its remedy. */
export function findTroubles({ refunds, treasury }: ShopState, report: ReadyReport): readonly Trouble[] {
  const down = <Part extends { readonly state: string }>(parts: readonly Part[]): readonly Part[] =>
    parts.filter(({ state }) => state === "down");
  return [
    ...(report.store === "down"
      ? [{ what: `The store: ${report.store_reason ?? "it is down"}`, mend: "payphone status" }]
      : []),
    ...down(report.rails).map(({ id, reason }) => ({
      what: `Nothing can be paid on the rail ${id}: ${reason ?? "it is down"}`,
      mend: "payphone serve --check",
    })),
    ...(report.distrusted ?? []).map(({ facilitator, reason }) => ({
      what: `${reason}: it is passed over`,
      mend: `payphone trust ${facilitator}`,
    })),
    ...toRefundTroubles(refunds).map((what) => ({ what, mend: "payphone refunds" })),
    ...treasury
      .filter(({ coins, least }) => coins < least)
      .map(({ network, coins, least }) => ({
        what: `The treasury has ${coins} coins for fees on ${network}; it should have ${least}`,
        mend: "payphone serve --check",
      })),
    ...down(report.upstreams).map(({ id, reason }) => ({
      what: `The source ${id} is left alone: ${reason ?? "it failed"}`,
      mend: "payphone serve --check",
    })),
    ...down(report.services).map(({ id, reason }) => ({
      what: `${id} cannot be sold: ${reason ?? "something is missing"}`,
      mend: "payphone status",
    })),
    ...(report.warnings ?? []).map((what) => ({ what, mend: "payphone status" })),
  ];
}

function toRefundTroubles(refunds: ShopState["refunds"]): readonly string[] {
  if (!refunds) return ["What is owed cannot be read"];
  const { manual, late } = refunds;
  const isLate = late === 1 ? "A refund is" : `${late} refunds are`;
  return [
    ...(manual > 0 ? [`${manual} ${manual === 1 ? "refund waits" : "refunds wait"} to be paid by hand`] : []),
    ...(late > 0 ? [`${isLate} not paid after an hour: the list says why`] : []),
  ];
}

const MINUTE_MS = 60_000;
/** A job may wait for another job of its service, and each may take all of its attempts. */
const TURNS = 2;

/** Jobs that should have ended. @param waiting the oldest of each service */
export function findStuck(
  waiting: readonly QueuedJob[],
  services: readonly { readonly manifest: Pick<Manifest, "id" | "job"> }[],
  now: number,
): readonly Trouble[] {
  return waiting.flatMap(({ id, service, at }) => {
    const job = services.find(({ manifest }) => manifest.id === service)?.manifest.job;
    const longestMs = Math.max(10 * MINUTE_MS, TURNS * (job?.attempts ?? 1) * (job?.deadline_seconds ?? 0) * 1000);
    if (now - at <= longestMs) return [];
    const minutes = Math.floor((now - at) / MINUTE_MS);
    return [
      { what: `The job ${id} of ${service} was paid ${minutes} minutes ago, and is not over`, mend: "payphone status" },
    ];
  });
}
