import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { loadSet } from "../../../runtime/cli/set/load.ts";
import { amountOn } from "../../../runtime/core/set/price.ts";
import { openStore, storeFileOf } from "../../../runtime/drivers/store/open-store.ts";
import { VIEWS } from "../../../runtime/surfaces/pages/seller/frame.ts";
import { eventually } from "../../support/eventually.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { startRedis } from "../../support/store/redis.ts";
import { startAnswering, startServer } from "../contestant.ts";
import { toLiveEnv } from "../start.ts";
import { enterYear, type Sold } from "./year-sales.ts";

/** One figure of a year's book: for a year of few sales, and for one of very many. */
export interface YearRow {
  readonly title: string;
  readonly few: number;
  readonly many: number;
  readonly goal: string;
}

/** What was measured, by title. The title ends with the unit. */
type Figures = Readonly<Record<string, number>>;

const MANY = Number(process.env.YEAR_SALES ?? 1_000_000);
const FEW = 1000;
const ROOT = join(import.meta.dirname, "../../..");
const LAUNCHER = join(ROOT, "runtime", "cli", "payphone.js");
const ADMIN_TOKEN = "a-token-of-the-bench-0123456789";
const LOOKS = 5;
const SAMPLE_MS = 20;

/** Exports, the seller's pages and the projection from Redis, on real programs. */
export async function measureYear(): Promise<readonly YearRow[]> {
  const sold = await toSold();
  const few = await measure(sold, FEW);
  const many = await measure(sold, MANY);
  return Object.keys(many).map((title) => ({
    title,
    few: few[title] ?? Number.NaN,
    many: many[title] ?? Number.NaN,
    goal: toGoal(title),
  }));
}

const toGoal = (title: string): string => {
  if (/^sales --(csv|json), s$/.test(title)) return "≤ 20";
  if (title.endsWith(" ms")) return "≤ 200";
  return title.endsWith(" kB") ? "≤ 100" : "";
};

/** Every service on every rail on which it has a price. */
async function toSold(): Promise<readonly Sold[]> {
  const { site, manifests } = await loadSet(ROOT);
  return manifests.flatMap(({ id: service, price: usd }) =>
    site.rails.flatMap((rail) => {
      const amount = usd === undefined ? undefined : amountOn(rail, usd, site);
      if (usd === undefined || amount === undefined) return [];
      const { id, network, asset, decimals } = rail;
      return { service, rail: id, network, asset, decimals, receiver: `receiver-${id}`, usd, amount: String(amount) };
    }),
  );
}

async function measure(sold: readonly Sold[], sales: number): Promise<Figures> {
  process.stderr.write(`year of ${sales} sales `);
  const folder = createFolder();
  const redis = await startRedis();
  const facilitator = await startServer("facilitator");
  try {
    const embedded = join(folder, "embedded");
    await fill({ dataDir: embedded }, sold, sales);
    const env = { ...toLiveEnv(embedded, facilitator.url), ADMIN_TOKEN };
    const shown = await run(["sales"], env); // Fills in what was entered last.
    const exported = { csv: await run(["sales", "--csv"], env), json: await run(["sales", "--json"], env) };
    const bytes = statSync(storeFileOf(embedded)).size;
    const pages = await measurePages(env);
    await fill({ dataDir: folder, redisUrl: redis.url }, sold, sales);
    const elsewhere = join(folder, "projected");
    mkdirSync(elsewhere);
    const projected = await run(["sales"], { ...env, PAYPHONE_DATA_DIR: elsewhere, REDIS_URL: redis.url });
    return {
      "file, MB": bytes / 1e6,
      "sales, s": shown.seconds,
      ...Object.fromEntries(
        Object.entries(exported).flatMap(([format, { seconds, megabytes }]) => [
          [`sales --${format}, s`, seconds],
          [`sales --${format}, MB at most`, megabytes],
        ]),
      ),
      ...pages,
      "sales with Redis, from an empty disk, s": projected.seconds,
      "sales with Redis, from an empty disk, MB at most": projected.megabytes,
    };
  } finally {
    await Promise.all([facilitator.stop(), redis.stop()]);
    process.stderr.write("\n");
  }
}

async function fill(at: Parameters<typeof openStore>[0], sold: readonly Sold[], sales: number): Promise<void> {
  const store = await openStore(at);
  await enterYear(store, sold, sales);
  await store.close();
}

/** Runs a command to its end. @throws Error when it fails. */
async function run(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<{ readonly seconds: number; readonly megabytes: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, [LAUNCHER, ...args], { cwd: ROOT, env, stdio: ["ignore", "pipe", "ignore"] });
  child.stdout.resume();
  let most = 0;
  const sample = setInterval(() => {
    const found = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"));
    most = Math.max(most, Number(found?.[1] ?? 0) * 1024);
  }, SAMPLE_MS);
  child.once("exit", () => clearInterval(sample)); // There is nothing to read about it any more.
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`payphone ${args.join(" ")} ended with ${code}`);
  return { seconds: (performance.now() - began) / 1000, megabytes: most / 1e6 };
}

/** Of each view: the first look at the longest span after a start, the slowest of some more, and the page's size. */
async function measurePages(env: NodeJS.ProcessEnv): Promise<Figures> {
  const port = await findFreePort();
  const seller = await startAnswering([LAUNCHER, "serve"], { ...env, ADMIN_PORT: String(port) }, "/health");
  const admin = `http://127.0.0.1:${port}`;
  const figures: Record<string, number> = {};
  try {
    await eventually(() => fetch(`${admin}/assets/`).catch(() => undefined)); // It opens after the shop.
    for (const [path, name] of VIEWS) {
      const look = async (): Promise<{ ms: number; bytes: number }> => {
        const began = performance.now();
        const headers = { authorization: `Bearer ${ADMIN_TOKEN}` };
        const answer = await fetch(`${admin}${path}?days=30`, { headers });
        const bytes = (await answer.arrayBuffer()).byteLength;
        if (!answer.ok) throw new Error(`${path} was answered with ${answer.status}`);
        return { ms: performance.now() - began, bytes };
      };
      const first = await look();
      const more: number[] = [];
      for (let count = 0; count < LOOKS; count += 1) more.push((await look()).ms);
      figures[`${name}, first look, ms`] = first.ms;
      figures[`${name}, ms`] = Math.max(...more);
      figures[`${name}, kB`] = first.bytes / 1000;
    }
  } finally {
    await seller.stop();
  }
  return figures;
}

export function printYear(rows: readonly YearRow[]): readonly YearRow[] {
  console.log(`\n| the book of a year | ${FEW} sales | ${MANY} sales | ratio | goal |\n|---|---|---|---|---|`);
  for (const { title, few, many, goal } of rows)
    console.log(`| ${title} | ${few.toFixed(1)} | ${many.toFixed(1)} | ${(many / few).toFixed(1)}× | ${goal} |`);
  return rows;
}
