import { Counter, type Registry } from "prom-client";
import { createGatherer } from "../../core/books/gatherer.ts";
import { toAtomic, toDecimal } from "../../core/set/price.ts";

interface Sale {
  readonly service: string;
  readonly rail: string;
  /** US dollars, decimal text. */
  readonly usd: string;
}

interface Sum {
  readonly labels: Pick<Sale, "service" | "rail">;
  count: number;
  /** Of 18 decimals. Added as floating-point numbers, sums of cents would not end in cents. */
  usd: bigint;
}

const DECIMALS = 18;

/** The counters of sales and of what they brought. */
export function createSales(registry: Registry): {
  readonly add: (sale: Sale) => void;
  /** Makes the series of a service on a rail, at 0. */
  readonly begin: (labels: Sum["labels"]) => void;
} {
  const sums = new Map<string, Sum>();
  const sumOf = ({ service, rail }: Sum["labels"]): Sum => {
    const key = `${rail} ${service}`;
    const known = sums.get(key) ?? { labels: { service, rail }, count: 0, usd: 0n };
    sums.set(key, known);
    return known;
  };
  const sold = createGatherer<Sale>((sale) => {
    const sum = sumOf(sale);
    sum.count += 1;
    sum.usd += toAtomic(sale.usd, DECIMALS);
  });
  const counter = (name: string, help: string, toValue: (sum: Sum) => number): Counter =>
    new Counter({
      name,
      help,
      labelNames: ["service", "rail"],
      registers: [registry],
      collect() {
        sold.work();
        this.reset();
        for (const sum of sums.values()) this.inc(sum.labels, toValue(sum));
      },
    });
  counter("payphone_sales_total", "Settled payments.", ({ count }) => count);
  counter("payphone_revenue_usd_total", "The price of settled payments in US dollars.", ({ usd }) =>
    Number(toDecimal(usd, DECIMALS)),
  );
  return { add: sold.add, begin: sumOf };
}
