/** `npm run bench` measures everything, `npm run bench -- <section>…` these sections (`soak` and `year` only then). Each figure is a ratio inside one run. */
import { mkdirSync, writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { join } from "node:path";
import { createFolder } from "../support/folder.ts";
import { measureAlone, printAlone } from "./alone.ts";
import { measureBooks, printBooks } from "./books/cost.ts";
import { measureYear, printYear } from "./books/year.ts";
import { CASES, type Case } from "./cases.ts";
import { startServer } from "./contestant.ts";
import { type HostileRow, measureHostile } from "./hostile/hostile.ts";
import { type DrainRow, measureDrain, measurePolls, type PollRow } from "./jobs.ts";
import { type LedgerRow, measureLedger } from "./ledger.ts";
import { type Sample, sample } from "./load.ts";
import { median } from "./median.ts";
import { measureProcesses, printProcesses } from "./processes.ts";
import { measureProxied, PROXY_GOAL_MS, type ProxiedRow } from "./proxied.ts";
import { type CachedRow, measureServices, type UncachedRow } from "./services.ts";
import { measureSoak, type SoakRow } from "./soak.ts";
import { measureStart, type StartRow } from "./start.ts";
import { measureWire, printWire } from "./wire.ts";

/** Interleaved rounds that count, after those that warm up. Only ratios inside one round are compared. */
const ROUNDS = 10;
const WARM_UP = 2;
/** The fewest requests of a round: processor time is counted in steps of 10 ms. */
const LEAST = 8000;
const NAMES = ["bare", "peer", "payphone"] as const;
type Name = (typeof NAMES)[number];

interface Round extends Sample {
  /** Processor time of the server, in microseconds a call: it counts where the machine has other work, too. */
  readonly cpu: number;
}

interface Row {
  readonly title: string;
  readonly goal: string;
  readonly peer: string;
  readonly rate: Readonly<Record<Name, number>>;
  readonly ofBare: number;
  readonly ofPeer: number;
  readonly p50: number;
  readonly p99: number;
  /** Processor time, in microseconds a call: of the best round, and of the median one. */
  readonly cpu: Readonly<Record<Name, { readonly least: number; readonly usual: number }>>;
  readonly cpuOfPeer: number;
  readonly rounds: readonly Readonly<Record<Name, Round>>[];
}

interface ServiceRows {
  readonly uncached: readonly UncachedRow[];
  readonly cached: readonly CachedRow[];
}

interface JobRows {
  readonly drained: readonly DrainRow[];
  readonly polled: readonly PollRow[];
}

/** Each measures, prints its table, and gives its rows for the file. */
const SECTIONS: Readonly<Record<string, () => Promise<unknown>>> = {
  async calls() {
    const rows: Row[] = [];
    for (const one of CASES) rows.push(await measure(one));
    return print(rows);
  },
  alone: async () => printAlone(await measureAlone()),
  start: async () => printStarts(await measureStart()),
  ledger: async () => printLedger(await measureLedger()),
  services: async () => printServices(await measureServices()),
  proxied: async () => printProxied(await measureProxied()),
  hostile: async () => printHostile(await measureHostile()),
  jobs: async () => printJobs({ drained: await measureDrain(), polled: await measurePolls() }),
  processes: async () => printProcesses(await measureProcesses()),
  books: async () => printBooks(await measureBooks()),
  year: async () => printYear(await measureYear()),
  wire: async () => printWire(await measureWire()),
  soak: async () => printSoak(await measureSoak()),
};
/** These take ten minutes: only when they are asked for. */
const LONG = ["soak", "year"];

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !(name in SECTIONS));
if (unknown.length > 0)
  throw new Error(`no section ${unknown.join(", ")}; there are ${Object.keys(SECTIONS).join(", ")}`);
const file = join(import.meta.dirname, "results", "latest.json");
const results: Record<string, unknown> = { node: process.version, cpu: cpus()[0]?.model, cores: cpus().length };
for (const [name, run] of Object.entries(SECTIONS))
  if (asked.includes(name) || (asked.length === 0 && !LONG.includes(name))) results[name] = await run();
mkdirSync(join(file, ".."), { recursive: true });
writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
console.log(`\nWritten to ${file}`);

async function measure(one: Case): Promise<Row> {
  process.stderr.write(`${one.title} `);
  const folder = createFolder();
  const facilitator = await startServer("facilitator");
  const fill = (args: readonly string[]): string[] =>
    args.map((arg) =>
      arg === "@facilitator" ? facilitator.url : arg === "@file" ? join(folder, "state.sqlite") : arg,
    );
  const contestants = {
    bare: await startServer("bare"),
    peer: await startServer(one.rivalServer, ...fill(one.rival)),
    payphone: await startServer("payphone", ...fill(one.payphone)),
  };
  const rounds: Record<Name, Round>[] = [];
  try {
    const makers = {
      bare: await one.load(contestants.payphone.url), // The same requests, headers and all.
      peer: await one.load(contestants.peer.url),
      payphone: await one.load(contestants.payphone.url),
    };
    const amounts: Record<Name, number> = { bare: LEAST, peer: LEAST, payphone: LEAST };
    for (let round = -WARM_UP; round < ROUNDS; round += 1) {
      const samples = {} as Record<Name, Round>;
      for (const name of NAMES) {
        const { url, cpuMs } = contestants[name];
        const before = cpuMs();
        const found = await sample(url, makers[name], amounts[name], name === "bare" ? 200 : one.status);
        samples[name] = { ...found, cpu: ((cpuMs() - before) * 1000) / found.calls };
        amounts[name] = Math.max(LEAST, Math.round(samples[name].rate)); // At least a second's worth.
      }
      if (round >= 0) rounds.push(samples);
      process.stderr.write(".");
    }
  } finally {
    await Promise.all([facilitator, ...Object.values(contestants)].map((running) => running.stop()));
    process.stderr.write("\n");
  }
  return toRow(one, rounds);
}

function toRow({ title, goal, peer }: Case, rounds: readonly Readonly<Record<Name, Round>>[]): Row {
  const cpu = (name: Name): Row["cpu"][Name] => {
    const taken = rounds.map((round) => round[name].cpu);
    return { least: Math.min(...taken), usual: median(taken) };
  };
  const rate = (name: Name): number => median(rounds.map((round) => round[name].rate));
  return {
    title,
    goal,
    peer,
    rate: { bare: rate("bare"), peer: rate("peer"), payphone: rate("payphone") },
    ofBare: median(rounds.map(({ payphone, bare }) => payphone.rate / bare.rate)),
    ofPeer: median(rounds.map(({ payphone, peer: other }) => payphone.rate / other.rate)),
    p50: median(rounds.map(({ payphone }) => payphone.p50)),
    p99: median(rounds.map(({ payphone }) => payphone.p99)),
    cpu: { bare: cpu("bare"), peer: cpu("peer"), payphone: cpu("payphone") },
    cpuOfPeer: median(rounds.map(({ payphone, peer: other }) => payphone.cpu / other.cpu)),
    rounds,
  };
}

function print(table: readonly Row[]): readonly Row[] {
  console.log(
    "\n| case | requests/s | of bare | of peer | p50 / p99 ms | bare, peer requests/s | processor µs a call, least (median): bare, peer, own | of peer | goal |\n|---|---|---|---|---|---|---|---|---|",
  );
  for (const { title, rate, ofBare, ofPeer, p50, p99, cpu, cpuOfPeer, goal, peer } of table) {
    const costs = NAMES.map((name) => `${Math.round(cpu[name].least)} (${Math.round(cpu[name].usual)})`).join(", ");
    const others = `${Math.round(rate.bare)}, ${Math.round(rate.peer)} (${peer})`;
    console.log(
      `| ${title} | ${Math.round(rate.payphone)} | ${ofBare.toFixed(3)} | ${ofPeer.toFixed(1)}× | ${p50} / ${p99} | ${others} | ${costs} | ${cpuOfPeer.toFixed(2)} | ${goal} |`,
    );
  }
  return table;
}

function printStarts(table: readonly StartRow[]): readonly StartRow[] {
  console.log("\n| start to first answer | ms | MB | goal |\n|---|---|---|---|");
  for (const { title, ms, megabytes, goal } of table)
    console.log(`| ${title} | ${Math.round(ms)} | ${Math.round(megabytes)} | ${goal} |`);
  return table;
}

function printLedger(table: readonly LedgerRow[]): readonly LedgerRow[] {
  console.log("\n| spend accounting, one run | ms | MB at most | MB before |\n|---|---|---|---|");
  for (const { title, ms, megabytes, idleMegabytes } of table)
    console.log(`| ${title} | ${Math.round(ms)} | ${Math.round(megabytes)} | ${Math.round(idleMegabytes)} |`);
  return table;
}

function printServices(table: ServiceRows): ServiceRows {
  const { uncached, cached } = table;
  console.log("\n| paid call, each question to a source takes 50 ms | p50 / p99 ms |\n|---|---|");
  for (const { title, p50, p99 } of uncached) console.log(`| ${title} | ${Math.round(p50)} / ${Math.round(p99)} |`);
  console.log("\n| paid call, remembered | requests/s | of the first | p50 / p99 ms |\n|---|---|---|---|");
  for (const { title, rate, ofPlain, p50, p99 } of cached)
    console.log(`| ${title} | ${Math.round(rate)} | ${ofPlain.toFixed(2)} | ${p50} / ${p99} |`);
  return table;
}

function printProxied(rows: readonly ProxiedRow[]): readonly ProxiedRow[] {
  const [plugin] = rows;
  console.log(
    `\n| paid call that asks an API, SQLite | p50 / p99 ms | more than the plugin, goal ≤ ${PROXY_GOAL_MS} |\n|---|---|---|`,
  );
  for (const { title, p50, p99 } of rows)
    console.log(`| ${title} | ${p50.toFixed(2)} / ${p99.toFixed(2)} | ${(p50 - (plugin?.p50 ?? 0)).toFixed(2)} |`);
  return rows;
}

function printHostile(table: readonly HostileRow[]): readonly HostileRow[] {
  console.log(
    "\n| an attack beside good buyers | their p50 / p99 ms | without it | p99 ratio, of a bare server | 429, or closed |\n|---|---|---|---|---|",
  );
  for (const { title, alone, beside, refused, bare } of table) {
    const [quiet, busy] = [alone, beside].map(({ p50, p99 }) => `${p50.toFixed(1)} / ${p99.toFixed(1)}`);
    const [own, other] = [{ alone, beside }, bare].map((one) => `${(one.beside.p99 / one.alone.p99).toFixed(1)}×`);
    console.log(`| ${title} | ${busy} | ${quiet} | ${own}, ${other} | ${refused} |`);
  }
  return table;
}

function printJobs(table: JobRows): JobRows {
  const { drained, polled } = table;
  console.log("\n| jobs | one process, jobs/s | two processes, jobs/s | ratio |\n|---|---|---|---|");
  for (const { title, one, two, ratio } of drained)
    console.log(`| ${title} | ${Math.round(one)} | ${Math.round(two)} | ${ratio.toFixed(2)}× |`);
  console.log("\n| polls | requests/s | of bare | p50 / p99 ms |\n|---|---|---|---|");
  for (const { title, rate, ofBare, p50, p99 } of polled)
    console.log(`| ${title} | ${Math.round(rate)} | ${ofBare.toFixed(3)} | ${p50} / ${p99} |`);
  return table;
}

function printSoak(row: SoakRow): SoakRow {
  const [quarter, half, end] = row.megabytes.map(Math.round);
  console.log(
    "\n| mixed load, on a file | calls | MB after a quarter, half, all | MB a minute, second half |\n|---|---|---|---|",
  );
  console.log(
    `| ${row.minutes} minutes | ${row.calls} | ${quarter}, ${half}, ${end} | ${row.megabytesPerMinute.toFixed(2)} |`,
  );
  return row;
}
