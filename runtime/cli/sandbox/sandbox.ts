import { flushCompileCache } from "node:module";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { digestOf } from "../../core/digest.ts";
import { facilitatorsOf, withOneFacilitator } from "../../core/rails/facilitators.ts";
import { didYouMean } from "../../core/set/did-you-mean.ts";
import type { RailManifest } from "../../core/set/manifest.ts";
import { createLog, type OpenLog } from "../../drivers/log.ts";
import type { Sandbox } from "../../sandbox/open-sandbox.ts";
import { type Config, loadConfig, readConfig } from "../config/config.ts";
import type { Env } from "../config/reader.ts";
import { tryReadFolder } from "../history/folder.ts";
import { findProcesses } from "../operate/ask.ts";
import type { EarlySignals } from "../process/early-signals.ts";
import { closeOnSignal, outliveRejections } from "../process/signals.ts";
import { watchFolder } from "../serve/change/watch.ts";
import { type Running, run } from "../serve/run.ts";
import { checkDir, toFaultProblem, tryPlugins } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { createApplier } from "./apply-on-change.ts";
import { toBanner } from "./banner.ts";
import { createEyesLog } from "./log-for-eyes.ts";
import { toSandboxSources } from "./sources.ts";

/** The command line of `payphone sandbox`. */
export interface SandboxCommand {
  readonly dir: string;
  /** Whether services read live upstreams instead of recordings. */
  readonly online: boolean;
  /** The upstreams that are read live while the others are recorded. */
  readonly live: readonly string[];
  /** Whether edits of the folder are applied at once. */
  readonly watch: boolean;
}

/**
 * Sells the services of a directory for play money, on embedded chains. Keys and addresses of the environment are not
 * used.
 * @param early the signals so far
 * @throws Problem `bad-request` with every fault of the set; `unavailable` when a part of the sandbox is not installed,
 * or another one runs on its data directory.
 */
export async function runSandbox({ dir, online, live, watch }: SandboxCommand, early: EarlySignals): Promise<void> {
  const own = loadConfig();
  const folder = tryReadFolder(dir);
  const [set, { openSandbox }] = await Promise.all([loadSet(dir), import("../../sandbox/open-sandbox.ts")]);
  if (set.faults.length > 0) throw toFaultProblem(await checkDir(dir, own.env));
  checkLive(live, set);
  const dataDir = join(own.dataDir, "sandbox"); // Records of play money must never mix with those of real money.
  await requireAlone(dataDir);
  const log = createLog({ level: "warn" });
  const { anvilBin } = own;
  const sandbox = await openSandbox({ rails: set.site.rails, dataDir, anvilBin, log });
  try {
    const config = readConfig({ ...toEnvironment(own.env, sandbox), PAYPHONE_DATA_DIR: dataDir });
    const { description } = sandbox;
    const { createSandboxPay, SANDBOX_PAY_PATH } = await import("./pay.ts"); // Loads the buyer's SDKs.
    const doors = new Map([[SANDBOX_PAY_PATH, createSandboxPay(set.site.rails, description)]]);
    const shown = openSandboxLog(config, set);
    outliveRejections(shown);
    const running = await run({
      set,
      folder,
      config,
      sandbox: (next) => ({ description, doors, ...toSandboxSources({ set: next, own, sandbox, online, live }) }),
      log: shown,
      examine: (next) => examine(next, set, own.env),
    });
    await trustAll(running, set);
    const onChange = createApplier(running, console.log);
    const watching = watch ? watchFolder({ dir: set.dir, onChange }) : undefined;
    closeOnSignal({
      async close() {
        watching?.close();
        await running.close();
        await sandbox.stop();
      },
    });
    early.end();
    const { services } = running.swap.current().composition;
    console.log(toBanner({ url: running.url, services }, description, set.site));
    console.log(`listening on ${running.url}`);
    flushCompileCache(); // Written now, because a killed process could not write it.
    if (watch) await onChange(); // What was edited while it started.
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}

/** @throws Problem `unavailable` when another one runs there: what it has sold is on other chains. */
async function requireAlone(dataDir: string): Promise<void> {
  if ((await findProcesses(dataDir)).length === 0) return;
  const way = "stop it, or give this one a PORT and a PAYPHONE_DATA_DIR of its own";
  throw new Problem("unavailable", `A sandbox runs on ${dataDir} already ("payphone status" says where): ${way}`);
}

/**
 * Trusts all facilitators again. The chains are new, so a settlement that they do not show was made on the former
 * chains and is no lie.
 */
async function trustAll({ swap }: Running, { site }: ManifestSet): Promise<void> {
  const sold = withOneFacilitator(site);
  const names = new Set(sold.rails.flatMap((rail) => facilitatorsOf(rail, sold)));
  for (const name of names) await swap.current().composition.trustAgain(name);
}

/** @throws Problem `bad-request` for an id that is not an upstream of the set. */
function checkLive(live: readonly string[], { site: { upstreams = [] } }: ManifestSet): void {
  const ids = upstreams.map(({ id }) => id);
  const unknown = live.find((id) => !ids.includes(id));
  if (unknown === undefined) return;
  const others = ids.length > 0 ? `; there are ${ids.join(", ")}` : "; there are none";
  throw new Problem(
    "bad-request",
    `--live: "${unknown}" is no source of _site.yaml${others}${didYouMean(unknown, ids)}`,
  );
}

/** Lines for people on a terminal, otherwise lines of JSON, unless LOG_FORMAT says otherwise. */
function openSandboxLog({ logLevel: level, logFormat }: Config, { site: { rails } }: ManifestSet): OpenLog {
  const { isTTY = false } = process.stdout;
  if (logFormat === "json" || (logFormat === undefined && !isTTY)) return createLog({ level });
  const hasColours = isTTY && process.stdout.hasColors();
  return createLog({ level, destination: createEyesLog({ rails, hasColours, print: console.log }) });
}

/** @throws Problem `bad-request` with every fault, or because the sandbox's chains do not fit the set any more. */
async function examine(next: ManifestSet, { site }: ManifestSet, env: Env): Promise<void> {
  const { faults } = await tryPlugins(next, env);
  if (faults.length > 0) throw toFaultProblem(faults);
  const made = new Set(site.rails.map(toMade));
  const other = next.site.rails.find((rail) => !made.has(toMade(rail)));
  if (!other) return;
  const what = `The rail ${other.id} is new or another one`;
  throw new Problem("bad-request", `${what}, and a sandbox makes its chains when it starts: start it again`);
}

/** What the sandbox's chains are made of: the other keys of a rail say nothing to them. */
const toMade = ({ title, explorer, explorer_address, max_fee, smart_wallets, ...made }: RailManifest): string =>
  digestOf(made);

/** Variables about money, identity and the public address. In a sandbox they come only from the sandbox itself. */
const REAL = /^(A2A_|TREASURY_|FACILITATOR_|CDP_|REDIS_URL(?:_FILE)?$|PUBLIC_BASE_URL$)/;

function toEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  sandbox: Sandbox,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !REAL.test(name));
  return { LOG_LEVEL: "info", ...Object.fromEntries(kept), ...sandbox.env };
}
