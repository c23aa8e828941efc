import type { Plugins } from "#plugin";
import type { Entry, LedgerAccount } from "./account.ts";
import type { ToChecksum } from "./checksums.ts";
import { toGroups } from "./groups.ts";
import { toIso } from "./period.ts";
import type { LedgerQuery } from "./request.ts";
import { toGranularity, toSeries } from "./series.ts";
import { sum, toPercent, toUsdc } from "./usdc.ts";

/** The version of the answer's fields and of how they are computed. */
export const SPEC_VERSION = "1.0";

/** The summary (schemas/LedgerSummaryResponse.json); the same transfers give the same summary. */
export type Summary = Omit<
  Plugins["ledger"]["summary"]["output"],
  "registry_version" | "spec_version" | "generated_at"
>;

type Totals = Summary["totals"];

/** Sums up the transfers of a ledger. */
export async function summarize(
  { wallet, period, direction, groupBy }: LedgerQuery,
  { span, entries }: LedgerAccount,
  toChecksum: ToChecksum,
): Promise<Summary> {
  const range = { from_block: span?.first ?? null, to_block: span?.last ?? null };
  return {
    wallet: toChecksum(wallet),
    chain: "base",
    range: { from: toIso(period.from), to: toIso(period.to), ...range },
    direction,
    totals: { ...toTotals(entries), ...(direction === "both" && toSides(entries, wallet)) },
    groups: await toGroups(entries, groupBy, toChecksum),
    daily: toSeries(entries, period),
    granularity: toGranularity(period),
  };
}

const toAmount = (entries: readonly Entry[]): bigint => sum(entries.map(({ amount }) => amount));

function toTotals(entries: readonly Entry[]): Totals {
  const total = toAmount(entries);
  return {
    usdc: toUsdc(total),
    tx_count: entries.length,
    unique_recipients: new Set(entries.map(({ to }) => to)).size,
    identified_pct: toPercent(toAmount(entries.filter(({ service }) => service)), total),
  };
}

const toSides = (entries: readonly Entry[], wallet: string): Pick<Totals, "usdc_outbound" | "usdc_inbound"> => ({
  usdc_outbound: toUsdc(toAmount(entries.filter(({ from }) => from === wallet))),
  usdc_inbound: toUsdc(toAmount(entries.filter(({ to }) => to === wallet))),
});
