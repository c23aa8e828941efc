import type { ShopState } from "../../drivers/metrics/metrics.ts";
import type { ReadyReport } from "../../server/routes/status.ts";
import type { Trouble } from "../../surfaces/pages/seller/view.ts";

/** What wants a person, the worst first, each with what mends it. */
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
    ...(refunds && refunds.manual > 0
      ? [{ what: `${refunds.manual} refunds wait to be paid by hand`, mend: "payphone refunds" }]
      : []),
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
