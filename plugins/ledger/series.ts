import type { Plugins } from "#plugin";
import type { Entry } from "./account.ts";
import { DAY_SECONDS, type Period, toDate } from "./period.ts";
import { sum, toUsdc } from "./usdc.ts";

/** The sum of one day or week. */
export type SeriesStep = Plugins["ledger"]["summary"]["output"]["daily"][number];

/** Longer ranges are summed by week. */
const MOST_DAYS = 90;
const WEEK_DAYS = 7;
/** The Unix epoch was a Thursday: three days after Monday. */
const EPOCH_WEEKDAY = 3;

/** The length of one step of the series. */
export const toGranularity = ({ from, to }: Period): "day" | "week" =>
  to - from + 1 > MOST_DAYS * DAY_SECONDS ? "week" : "day";

/** The series over the whole period, including steps without transfers. */
export function toSeries(entries: readonly Entry[], period: Period): SeriesStep[] {
  const days = toGranularity(period) === "day" ? 1 : WEEK_DAYS;
  const toStart = (second: number): number => {
    const day = Math.floor(second / DAY_SECONDS);
    return days === 1 ? day : day - ((day + EPOCH_WEEKDAY) % WEEK_DAYS);
  };
  const byStart = Map.groupBy(entries, ({ at }) => toStart(at));
  const [first, last] = [toStart(period.from), toStart(period.to)];
  return Array.from({ length: (last - first) / days + 1 }, (_, index) => {
    const start = first + index * days;
    const members = byStart.get(start) ?? [];
    const usdc = toUsdc(sum(members.map(({ amount }) => amount)));
    return { date: toDate(start * DAY_SECONDS), usdc, tx_count: members.length };
  });
}
