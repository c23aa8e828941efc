import type { Html } from "../html.ts";
import { toEarned, toUsd } from "./figures.ts";
import { type Chart, toChart } from "./frame.ts";
import { LOOK_DAY_MS } from "./look.ts";
import type { ShopView } from "./view.ts";

export interface RevenueTerms {
  /** When omitted: the whole shop. */
  readonly service?: string;
  readonly marks?: Chart["marks"];
}

/** Revenue over time, as a line chart. */
export function toRevenue({ books, own, look }: ShopView, { service, marks }: RevenueTerms = {}): Html {
  const { span, byDay, words } = look;
  const bucketMs = byDay ? LOOK_DAY_MS : LOOK_DAY_MS / 24;
  const sums = books.sums(span, { own, by: service === undefined ? [] : ["service"], bucketMs });
  const mine = service === undefined ? sums : sums.filter((sum) => sum.service === service);
  const byBucket = Map.groupBy(mine, ({ at }) => at);
  const first = Math.floor(span.from / bucketMs) * bucketMs;
  const points = Array.from({ length: Math.ceil((span.to - first) / bucketMs) }, (_, step) => {
    const at = first + step * bucketMs;
    const { nano } = toEarned(byBucket.get(at) ?? []);
    return { at, value: Number(nano) / 1e9, text: toUsd(nano) };
  });
  return toChart({
    title: `Revenue ${words}`,
    label: "US dollars",
    points,
    byDay,
    from: span.from,
    ...(marks && { marks }),
  });
}
