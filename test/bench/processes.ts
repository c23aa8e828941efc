import { join } from "node:path";
import { createFolder } from "../support/folder.ts";
import { startRedis } from "../support/store/redis.ts";
import { type Contestant, startServer } from "./contestant.ts";
import { type Maker, paid, sample, unpaid } from "./load.ts";
import { median } from "./median.ts";

/** How much more several processes answer than one, on one port and one store. */
export interface ProcessRow {
  readonly title: string;
  /** Requests a second, for one process, two, and so on. */
  readonly rates: readonly number[];
  /** How many times the rate of one process, compared round by round. */
  readonly ratios: readonly number[];
}

interface Sold {
  readonly title: string;
  readonly most: number;
  readonly load: (url: string) => Promise<Maker>;
  readonly status: number;
  readonly openPlace: () => string;
  /** For how many milliseconds its handler computes. */
  readonly workMs?: number;
}

const ROUNDS = 3;
const WARM_UP = 1;
const FIRST = 1000;

/** Starts one, two and more processes of the same shop, and loads them in turn. */
export async function measureProcesses(): Promise<ProcessRow[]> {
  const redis = await startRedis();
  const folder = createFolder();
  let files = 0;
  const openFile = (): string => {
    files += 1;
    return join(folder, `state-${files}.sqlite`);
  };
  try {
    const rows: ProcessRow[] = [];
    for (const sold of [
      { title: "unpaid → 402 challenge", most: 2, load: unpaid, status: 402, openPlace: () => "memory" },
      { title: "paid call, SQLite (fsync)", most: 2, load: paid, status: 200, openPlace: openFile },
      {
        title: "paid call that computes for 2 ms, SQLite",
        most: 2,
        load: paid,
        status: 200,
        openPlace: openFile,
        workMs: 2,
      },
      { title: "paid call, Redis (fsync)", most: 3, load: paid, status: 200, openPlace: () => redis.url },
    ])
      rows.push(await measure(sold));
    return rows;
  } finally {
    await redis.stop();
  }
}

async function measure({ title, most, load, status, openPlace, workMs = 0 }: Sold): Promise<ProcessRow> {
  process.stderr.write(`${title} `);
  const contestants: Contestant[] = [];
  const rounds: number[][] = [];
  try {
    for (let count = 1; count <= most; count += 1) {
      const args = [String(count), openPlace(), "-", "books", String(workMs)];
      contestants.push(await startServer("workers", ...args));
    }
    const makers = await Promise.all(contestants.map(({ url }) => load(url)));
    const amounts = contestants.map(() => FIRST);
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const rates: number[] = [];
      for (const [at, { url }] of contestants.entries()) {
        const { rate } = await sample(url, makers[at] as Maker, amounts[at] ?? FIRST, status);
        amounts[at] = Math.round(rate);
        rates.push(rate);
      }
      if (round >= 0) rounds.push(rates);
      process.stderr.write(".");
    }
  } finally {
    await Promise.all(contestants.map((contestant) => contestant.stop()));
    process.stderr.write("\n");
  }
  return {
    title,
    rates: contestants.map((_, at) => median(rounds.map((rates) => rates[at] ?? 0))),
    ratios: contestants.map((_, at) => median(rounds.map((rates) => (rates[at] ?? 0) / (rates[0] ?? 1)))),
  };
}

/** The rows as a table. */
export function printProcesses(rows: readonly ProcessRow[]): readonly ProcessRow[] {
  console.log("\n| processes on one store, requests/s | one | two | three |\n|---|---|---|---|");
  for (const { title, rates, ratios } of rows) {
    const cells = rates.map((rate, at) => `${Math.round(rate)}${at > 0 ? ` (${ratios[at]?.toFixed(2)}×)` : ""}`);
    console.log(`| ${title} | ${[...cells, "", ""].slice(0, 3).join(" | ")} |`);
  }
  return rows;
}

if (process.argv[1] === import.meta.filename) printProcesses(await measureProcesses());
