import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Contestant, startServer } from "../contestant.ts";
import { paid, sample } from "../load.ts";
import { median } from "../median.ts";

/** What the book and the metrics cost a paid call. */
export interface BooksRow {
  readonly title: string;
  readonly goal: string;
  /** Processor time of one call in milliseconds, of the seller's process. */
  readonly cpuMs: { readonly on: number; readonly off: number };
  /** Medians of the ratios inside one round: with the book, of without. */
  readonly cpuRatio: number;
  readonly rateRatio: number;
}

const ROUNDS = 12;
const WARM_UP = 3;
/** Processor time is counted in steps of 10 ms: half a per cent of this many calls'. */
const CALLS = 4000;

/** The same seller with its book and metrics, and without, on a file, with a facilitator over loopback HTTP, in turns. */
export async function measureBooks(): Promise<readonly BooksRow[]> {
  process.stderr.write("books ");
  const folder = mkdtempSync(join(tmpdir(), "bench-"));
  const facilitator = await startServer("facilitator");
  const sell = (books: string): Promise<Contestant> =>
    startServer("payphone", join(folder, `${books}.sqlite`), facilitator.url, books);
  const sellers = { on: await sell("books"), off: await sell("no-books") };
  const costs: { on: number; off: number; rate: number }[] = [];
  try {
    const makers = { on: await paid(sellers.on.url), off: await paid(sellers.off.url) };
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const order = round % 2 === 0 ? (["on", "off"] as const) : (["off", "on"] as const); // Neither is always the first.
      const found = { on: { cpu: 0, rate: 0 }, off: { cpu: 0, rate: 0 } };
      for (const name of order) {
        const before = sellers[name].cpuMs();
        const { rate } = await sample(sellers[name].url, makers[name], CALLS, 200);
        found[name] = { cpu: (sellers[name].cpuMs() - before) / CALLS, rate };
      }
      if (round >= 0) costs.push({ on: found.on.cpu, off: found.off.cpu, rate: found.on.rate / found.off.rate });
      process.stderr.write(".");
    }
  } finally {
    await Promise.all([facilitator, sellers.on, sellers.off].map((running) => running.stop()));
    rmSync(folder, { recursive: true });
    process.stderr.write("\n");
  }
  return [
    {
      title: "paid call with the book and metrics, on a file, facilitator over loopback HTTP",
      goal: "≤ 1.05 of without",
      cpuMs: { on: median(costs.map(({ on }) => on)), off: median(costs.map(({ off }) => off)) },
      cpuRatio: median(costs.map(({ on, off }) => on / off)),
      rateRatio: median(costs.map(({ rate }) => rate)),
    },
  ];
}

export function printBooks(table: readonly BooksRow[]): readonly BooksRow[] {
  console.log(
    "\n| the book | processor ms a call, with / without | ratio | requests/s, ratio | goal |\n|---|---|---|---|---|",
  );
  for (const { title, cpuMs, cpuRatio, rateRatio, goal } of table)
    console.log(
      `| ${title} | ${cpuMs.on.toFixed(3)} / ${cpuMs.off.toFixed(3)} | ${cpuRatio.toFixed(3)} | ${rateRatio.toFixed(3)} | ${goal} |`,
    );
  return table;
}
