import { flushCompileCache } from "node:module";
import { Problem } from "../../api/problem.ts";
import { once } from "../../core/once.ts";
import { isTestSite } from "../../core/rails/networks.ts";
import type { Fault } from "../../core/set/faults.ts";
import { createLog } from "../../drivers/log.ts";
import { type Config, examineConfig, loadEnv } from "../config/config.ts";
import { missingForServe } from "../config/serve.ts";
import { type SetFolder, tryReadFolder } from "../history/folder.ts";
import { createHistory, type HistoryEntry } from "../history/history.ts";
import { toServeBanner } from "../process/banner.ts";
import type { EarlySignals } from "../process/early-signals.ts";
import { closeOnSignal, outliveRejections } from "../process/signals.ts";
import { workerLifecycle } from "../process/worker.ts";
import { toFaultReport, tryPlugins } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { digestSet, noteSoundSet, readSoundSet } from "../set/sound-set.ts";
import type { Applied } from "./change/changes.ts";
import { type Running, run } from "./run.ts";

/** The command line of `payphone serve`. */
export interface ServeCommand {
  readonly dir: string;
  /** Whether the store may be claimed although it has the shop's former name. */
  readonly renamed: boolean;
  /** Whether to refuse to start when the folder has faults, instead of selling the last good set. */
  readonly strict: boolean;
  /** Whether to sell the set that was sold last, even when the folder differs: its changes may not be applied yet. */
  readonly asSold: boolean;
}

/**
 * Sells the services of a directory for real money, in a process of its own or as one of several workers.
 * @param early the signals so far; none in a worker, which is told by the process that started it
 * @throws Problem `bad-request` with every fault of the set, its plugins and the environment.
 */
export async function runServe(command: ServeCommand, early?: EarlySignals): Promise<void> {
  const worker = workerLifecycle();
  try {
    const { running, banner } = await start(command);
    const close = once(running.close);
    worker?.onStop(close);
    closeOnSignal({ close, reload: () => reload(running) });
    if (early?.end()) reload(running);
    if (command.asSold) await follow(running);
    if (worker) worker.announce({ url: running.url, banner });
    else console.log(`${banner}\nlistening on ${running.url}`);
    flushCompileCache(); // Written now, because a killed process could not write it.
  } catch (error) {
    early?.end();
    worker?.giveUp();
    throw error;
  }
}

async function start({ dir, renamed, strict, asSold }: ServeCommand): Promise<{ running: Running; banner: string }> {
  const { config, faults } = examineConfig(loadEnv());
  const digest = digestSet(dir);
  const isKnown = digest !== undefined && digest === (await readSoundSet(config.dataDir));
  const { set, folder, note } = await chooseSet({ dir, config, isKnown, strict, asSold });
  await refuseFaults(set, config, { malformed: faults });
  if (note !== undefined) console.error(`payphone: ${note}`);
  const examine = (next: ManifestSet): Promise<void> => refuseFaults(next, config, { triesPlugins: true });
  const log = createLog({ level: config.logLevel });
  outliveRejections(log); // The plugins of a known set are not tried before.
  const running = await run({ set, folder, config, isRenamed: renamed, isFollower: asSold, note, examine, log });
  if (digest !== undefined && !set.isKnown && note === undefined) await noteSoundSet(config.dataDir, digest);
  const { services, railStatuses } = running.swap.current().composition;
  const sold = { set, services, digest: running.changes.digest(), rails: railStatuses() };
  return { running, banner: toServeBanner({ ...sold, config, baseUrl: running.baseUrl }) };
}

function reload({ changes, log }: Running): void {
  const noteNone = ({ times, to }: Applied): void => {
    if (!times) log.info("set.unchanged", { set: to, note: "the variables are read at the start only" });
  };
  changes.apply("signal").then(noteNone, (error: unknown) => log.error("set.refused", { error }));
}

/** Catches up with a change that was made while this process was starting and could not be told. */
const follow = ({ changes, log }: Running): Promise<void> =>
  changes.follow().catch((error: unknown) => log.error("set.refused", { error }));

interface Choice {
  readonly set: ManifestSet;
  /** Its files, when they could be read and the set is made of them. */
  readonly folder?: SetFolder | undefined;
  /** Why the set is not the one in the folder. */
  readonly note?: string;
}

interface ChoiceTerms extends Pick<ServeCommand, "dir" | "strict" | "asSold"> {
  readonly config: Config;
  readonly isKnown: boolean;
}

/**
 * The set in the folder; or the set that was sold last, when the folder is still as it was when it was rolled back or,
 * unless `strict`, has faults.
 */
export async function chooseSet({ dir, config, isKnown, strict, asSold }: ChoiceTerms): Promise<Choice> {
  const last = await createHistory(config.dataDir).last();
  const folder = tryReadFolder(dir);
  const set = await loadSet(dir, { isKnown });
  if (!last || !folder) return { set, folder };
  const { digest } = folder;
  if (asSold && last.digest !== digest) {
    const kept = await loadKept(last, { dir, config });
    if (kept) return { set: kept, note: toAsSoldNote(last, dir) };
  }
  if (last.refused === digest) {
    const kept = await loadKept(last, { dir, config });
    if (kept) return { set: kept, note: toTakenBackNote(last, dir) };
  }
  if ((strict && !asSold) || isKnown || last.digest === digest) return { set, folder };
  const { faults } = await tryPlugins(set, config.env);
  const kept = faults.length > 0 ? await loadKept(last, { dir, config }) : undefined;
  if (!kept) return { set, folder };
  console.error(toFaultReport(faults));
  return { set: kept, note: toFaultyNote(last, dir) };
}

/** A set of the data directory; undefined when it is gone or has faults. */
async function loadKept(
  { digest }: HistoryEntry,
  { dir, config }: Pick<ChoiceTerms, "dir" | "config">,
): Promise<ManifestSet | undefined> {
  const history = createHistory(config.dataDir);
  const kept = await history.find(digest);
  if (kept === undefined) {
    console.error(`payphone: ${history.explain(digest)}`);
    return undefined;
  }
  const set = await loadSet(kept, { home: dir });
  return (await tryPlugins(set, config.env)).faults.length === 0 ? set : undefined;
}

const toFaultyNote = ({ digest, at }: HistoryEntry, dir: string): string =>
  `${dir} is faulty: what is sold is the last good set, ${digest} of ${at}. Mend the faults that "payphone check" lists, then run "payphone apply"`;

const toAsSoldNote = ({ digest, at }: HistoryEntry, dir: string): string =>
  `What ${dir} holds is not sold yet: what is sold is the set ${digest} of ${at}. "payphone apply" sells the folder`;

const toTakenBackNote = ({ digest, at }: HistoryEntry, dir: string): string =>
  `What ${dir} holds was taken back at ${at}: what is sold is the set ${digest}. "payphone apply" sells the folder again`;

/** Why a set cannot be sold for real money here. */
export interface Complaints {
  readonly faults: readonly Fault[];
  /** What the environment lacks, or says wrongly. */
  readonly environment: readonly string[];
}

/** Throws a Problem with all complaints at once. */
export async function refuseFaults(...terms: Parameters<typeof findComplaints>): Promise<void> {
  const { faults, environment } = await findComplaints(...terms);
  const [set] = terms;
  const reports = [
    ...(faults.length > 0 ? [toFaultReport(faults)] : []),
    ...(environment.length > 0 ? [toHeading(set), ...environment.map((line) => `  ${line}`)] : []),
  ];
  if (reports.length > 0) throw new Problem("bad-request", reports.join("\n"));
}

interface ComplaintTerms {
  /** The faults of the environment. */
  readonly malformed?: readonly string[];
  /** By default, plugins are tried only when there are other complaints, because `run` loads them anyway. */
  readonly triesPlugins?: boolean;
}

export async function findComplaints(
  set: ManifestSet,
  config: Config,
  { malformed = [], triesPlugins = false }: ComplaintTerms = {},
): Promise<Complaints> {
  const { site, drafts, faults } = set;
  const manifests = drafts.map(({ data }) => data);
  const missingWith = (capabilities: ReadonlySet<string>): readonly string[] =>
    missingForServe(config, { site, manifests, capabilities });
  if (!triesPlugins && faults.length + malformed.length + missingWith(ALL).length === 0)
    return { faults: [], environment: [] };
  const trial = await tryPlugins(set, config.env);
  return { faults: trial.faults, environment: [...malformed, ...missingWith(trial.capabilities)] };
}

const toHeading = ({ site }: ManifestSet): string =>
  `${isTestSite(site) ? "A shop on test networks" : "Real money"} needs a complete configuration. What is missing or wrong:`;

/** The capabilities that need a key of the treasury. */
const ALL: ReadonlySet<string> = new Set(["anchor", "treasury"]);
