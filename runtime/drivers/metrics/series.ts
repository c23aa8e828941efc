import { Counter, type Metric, type Registry } from "prom-client";

/** The name and the labels of a metric. */
export interface Named<Label extends string> {
  /** Without the prefix `payphone_`. */
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly Label[];
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

/**
 * A counter. Its values are gathered here per series and passed to prom-client at a scrape, because finding a series in
 * prom-client costs more than everything else that is counted for a call. @returns adds to a series
 */
export function createCounter<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: Named<Label>,
): (labels: Labels<Label>, by: number) => void {
  const gathered = createSeries(labelNames, (labels) => ({ labels, by: 0 }));
  new Counter({
    name: `payphone_${name}`,
    help,
    labelNames,
    registers: [registry],
    collect() {
      for (const { labels, by } of gathered.all.values()) this.inc(labels, by);
      gathered.all.clear();
    },
  });
  return (labels, by) => {
    gathered.of(labels).by += by;
  };
}

/**
 * A histogram that keeps its own numbers for the same reason. @param bounds ascending @returns adds a value to a series
 */
export function createHistogram<Label extends string>(
  registry: Registry,
  { name, help, labelNames }: Named<Label>,
  bounds: readonly number[],
): (labels: Labels<Label>, value: number) => void {
  const full = `payphone_${name}`;
  const series = createSeries(labelNames, (labels) => ({ labels, counts: bounds.map(() => 0), sum: 0, count: 0 }));
  const histogram = {
    name: full,
    async get() {
      const values = [...series.all.values()].flatMap(({ labels, counts, sum, count }) => {
        let below = 0;
        const toBucket = (le: number | string, value: number): object => {
          return { metricName: `${full}_bucket`, labels: { le, ...labels }, value };
        };
        const buckets = bounds.map((bound, at) => {
          below += counts[at] as number;
          return toBucket(bound, below);
        });
        const total = { metricName: `${full}_sum`, labels, value: sum };
        return [...buckets, toBucket("+Inf", count), total, { metricName: `${full}_count`, labels, value: count }];
      });
      return { name: full, help, type: "histogram", values, aggregator: "sum" };
    },
  };
  registry.registerMetric(histogram as unknown as Metric); // A registry uses no other members of a metric.
  return (labels, value) => {
    const one = series.of(labels);
    one.sum += value;
    one.count += 1;
    for (let at = 0; at < bounds.length; at += 1)
      if (value <= (bounds[at] as number)) {
        one.counts[at] = (one.counts[at] as number) + 1;
        return;
      }
  };
}

/** Series by the values of their labels. */
function createSeries<Label extends string, T>(labelNames: readonly Label[], make: (labels: Labels<Label>) => T) {
  const all = new Map<string, T>();
  return {
    all,
    of(labels: Labels<Label>): T {
      let key = "";
      for (const name of labelNames) key += `${labels[name]}\0`;
      const known = all.get(key);
      if (known) return known;
      const made = make(labels);
      all.set(key, made);
      return made;
    },
  };
}
