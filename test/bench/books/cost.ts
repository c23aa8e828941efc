import { join } from "node:path";
import { createFolder } from "../../support/folder.ts";
import { type Contestant, startServer } from "../contestant.ts";
import { paid, sample } from "../load.ts";
import { median } from "../median.ts";

/** What the book and the metrics cost a paid call. */
export interface BooksRow {
  readonly title: string;
  readonly goal: string;
  /** Processor time of one call in milliseconds, of the seller's process. */
  readonly cpuMs: { readonly on: number; readonly off: number };
  /** With the book, of without: all rounds together. */
  readonly cpuRatio: number;
  /** The ratios inside one round, a quarter of which are less than the first one, and a quarter more than the second. */
  readonly cpuRatios: readonly [number, number];
}

/** Two processes of one program differ, too. */
const PAIRS = 3;
const ROUNDS = 16;
const WARM_UP = 6;
/** Processor time is counted in steps of 10 ms: a per cent of this many calls'. */
const CALLS = 1000;

/** What one round cost with the book and without: processor milliseconds of a call. */
interface Round {
  readonly on: number;
  readonly off: number;
}

/**
 * The same seller with its book and metrics, and without, on a file, with a facilitator over loopback HTTP. Both at once,
 * since the machine's own speed changes within seconds.
 */
export async function measureBooks(): Promise<readonly BooksRow[]> {
  process.stderr.write("books ");
  const facilitator = await startServer("facilitator");
  const costs: Round[] = [];
  try {
    for (let pair = 0; pair < PAIRS; pair += 1) costs.push(...(await measurePair(facilitator.url)));
  } finally {
    await facilitator.stop();
    process.stderr.write("\n");
  }
  const ratios = costs.map(({ on, off }) => on / off).sort((one, other) => one - other);
  const quarter = (part: number): number => ratios[Math.floor(part * ratios.length)] ?? Number.NaN;
  return [
    {
      title: "paid call with the book and metrics, on a file, facilitator over loopback HTTP",
      goal: "≤ 1.05 of without",
      cpuMs: { on: median(costs.map(({ on }) => on)), off: median(costs.map(({ off }) => off)) },
      cpuRatio: sum(costs.map(({ on }) => on)) / sum(costs.map(({ off }) => off)),
      cpuRatios: [quarter(0.25), quarter(0.75)],
    },
  ];
}

async function measurePair(facilitator: string): Promise<Round[]> {
  const folder = createFolder();
  const sell = (books: string): Promise<Contestant> =>
    startServer("payphone", join(folder, `${books}.sqlite`), facilitator, books);
  const sellers = { on: await sell("books"), off: await sell("no-books") };
  const costs: Round[] = [];
  try {
    const makers = { on: await paid(sellers.on.url), off: await paid(sellers.off.url) };
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const measure = async (name: "on" | "off"): Promise<number> => {
        const before = sellers[name].cpuMs();
        const { calls } = await sample(sellers[name].url, makers[name], CALLS, 200);
        return (sellers[name].cpuMs() - before) / calls;
      };
      const [on, off] = await Promise.all([measure("on"), measure("off")]);
      if (round >= 0) costs.push({ on, off });
      process.stderr.write(".");
    }
  } finally {
    await Promise.all([sellers.on, sellers.off].map((running) => running.stop()));
  }
  return costs;
}

const sum = (values: readonly number[]): number => values.reduce((all, value) => all + value, 0);

export function printBooks(table: readonly BooksRow[]): readonly BooksRow[] {
  console.log(
    "\n| the book | processor ms a call, with / without | ratio, and of half of the rounds | goal |\n|---|---|---|---|",
  );
  for (const { title, cpuMs, cpuRatio, cpuRatios, goal } of table)
    console.log(
      `| ${title} | ${cpuMs.on.toFixed(3)} / ${cpuMs.off.toFixed(3)} | ${cpuRatio.toFixed(3)}, ${cpuRatios.map((ratio) => ratio.toFixed(2)).join("–")} | ${goal} |`,
    );
  return table;
}
