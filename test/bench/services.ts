import { join } from "node:path";
import { loadSet } from "../../runtime/cli/set/load.ts";
import { createFolder } from "../support/folder.ts";
import { startAnswering, startServer } from "./contestant.ts";
import { paidAlike, payer, type Sample, sample } from "./load.ts";
import { median } from "./median.ts";
import { CACHED, type SourcedCall, UNCACHED } from "./service-calls.ts";
import { toLiveEnv } from "./start.ts";

/** How long one paid call takes whose sources must be asked; they need 50 ms each time. */
export interface UncachedRow {
  readonly title: string;
  readonly p50: number;
  readonly p99: number;
}

/** Paid calls that are answered from the store, beside a service that reads nothing, in the same rounds. */
export interface CachedRow extends Omit<Sample, "calls"> {
  readonly title: string;
  readonly ofPlain: number;
}

type Name = keyof typeof CACHED;

const ROOT = join(import.meta.dirname, "../..");
const [PLAIN, ...REMEMBERED] = Object.keys(CACHED) as [Name, ...Name[]];
const ROUNDS = 5;
const WARM_UP = 2;
const FIRST = 500;

/** Sells through the real `payphone serve`, on SQLite, with the facilitator's stub and all sources over loopback HTTP. */
export async function measureServices(): Promise<{ uncached: UncachedRow[]; cached: CachedRow[] }> {
  const folder = createFolder();
  const [facilitator, sources] = await Promise.all([startServer("facilitator"), startServer("sources")]);
  const env = { ...toLiveEnv(folder, facilitator.url), ...(await toSourceEnv(sources.url)) };
  const seller = await startAnswering([join(ROOT, "runtime/cli/payphone.js"), "serve"], env, "/ready");
  try {
    const uncached: UncachedRow[] = [];
    for (const call of UNCACHED) uncached.push(await time(seller.url, call));
    return { uncached, cached: await measureCached(seller.url) };
  } finally {
    await Promise.all([seller, facilitator, sources].map((running) => running.stop()));
  }
}

async function toSourceEnv(url: string): Promise<NodeJS.ProcessEnv> {
  const { site } = await loadSet(ROOT);
  const variables = (site.upstreams ?? []).map(({ id, variable = "" }) => [variable, `${url}/${id}`]);
  return { ...Object.fromEntries(variables), LLM_BASE_URL: `${url}/llm`, LLM_MODEL: "stub" };
}

/** One call after the other. @throws Error when one is not answered with 200. */
async function time(url: string, { title, path, input, calls }: SourcedCall): Promise<UncachedRow> {
  process.stderr.write(`${title}\n`);
  const pay = await payer(url + path);
  const taken: number[] = [];
  for (let at = -1; at < calls; at += 1) {
    const headers = { "content-type": "application/json", "payment-signature": pay() };
    const body = JSON.stringify(input(at + 1));
    const began = performance.now();
    const response = await fetch(url + path, { method: "POST", headers, body });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${title} was answered with ${response.status}: ${text}`);
    if (at >= 0) taken.push(performance.now() - began); // The first one loads what is loaded on the first use.
  }
  taken.sort((one, other) => one - other);
  const at = (share: number): number =>
    taken[Math.min(taken.length - 1, Math.floor(taken.length * share))] ?? Number.NaN;
  return { title, p50: at(0.5), p99: at(0.99) };
}

async function measureCached(url: string): Promise<CachedRow[]> {
  const names = [PLAIN, ...REMEMBERED];
  const makers = await Promise.all(names.map((name) => paidAlike(url, CACHED[name].path, CACHED[name].input)));
  const rounds: Sample[][] = [];
  let amounts = names.map(() => FIRST);
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const samples: Sample[] = [];
    for (const [at, make] of makers.entries()) samples.push(await sample(url, make, amounts[at] ?? FIRST, 200));
    amounts = samples.map(({ rate }) => Math.round(rate)); // About a second's worth for the next round.
    if (round >= 0) rounds.push(samples);
    process.stderr.write(".");
  }
  process.stderr.write("\n");
  return names.map((title, at) => {
    const middle = (value: (one: Sample, plain: Sample) => number): number =>
      median(rounds.map((round) => value(round[at] as Sample, round[0] as Sample)));
    return {
      title,
      rate: middle(({ rate }) => rate),
      ofPlain: middle(({ rate }, plain) => rate / plain.rate),
      p50: middle(({ p50 }) => p50),
      p99: middle(({ p99 }) => p99),
    };
  });
}
