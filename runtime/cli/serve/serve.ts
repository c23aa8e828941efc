import { Problem } from "../../api/problem.ts";
import { type Config, examineConfig, loadEnv } from "../config/config.ts";
import { missingForServe } from "../config/serve.ts";
import { toFaultReport, tryPlugins } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { digestSet, noteSoundSet, readSoundSet } from "../set/sound-set.ts";
import { closeOnSignal, run } from "./run.ts";

/** The command line of `payphone serve`. */
export interface ServeCommand {
  readonly dir: string;
  /** Whether the store belongs to this shop under an earlier name. */
  readonly renamed: boolean;
}

/**
 * Sells the services of a directory for real money.
 * @throws Problem `bad-request` with every fault of the set, its plugins and the environment.
 */
export async function runServe({ dir, renamed }: ServeCommand): Promise<void> {
  const { config, faults } = examineConfig(loadEnv());
  const digest = digestSet(dir);
  const set = await loadSet(dir, digest !== undefined && digest === (await readSoundSet(config.dataDir)));
  await refuseFaults(set, config, faults);
  const running = await run({ set, config, isRenamed: renamed });
  if (digest !== undefined && !set.isKnown) await noteSoundSet(config.dataDir, digest);
  closeOnSignal(running.close);
  console.log(`listening on ${running.url}`);
}

/** Throws everything that is wrong at once. Plugins are tried only when something else is wrong: `run` loads them anyway. */
export async function refuseFaults(set: ManifestSet, config: Config, malformed: readonly string[]): Promise<void> {
  const { site, drafts, faults } = set;
  const manifests = drafts.map(({ data }) => data);
  const isMissing = (capabilities: ReadonlySet<string>): readonly string[] =>
    missingForServe(config, { site, manifests, capabilities });
  if (faults.length + malformed.length + isMissing(ALL).length === 0) return;
  const trial = await tryPlugins(set, config.env);
  const environment = [...malformed, ...isMissing(trial.capabilities)];
  const reports = [
    ...(trial.faults.length > 0 ? [toFaultReport(trial.faults)] : []),
    ...(environment.length > 0 ? [HEADING, ...environment.map((line) => `  ${line}`)] : []),
  ];
  if (reports.length > 0) throw new Problem("bad-request", reports.join("\n"));
}

const HEADING = "Real money needs a complete configuration. What is missing or wrong:";

/** The capabilities that need a key of the treasury. */
const ALL: ReadonlySet<string> = new Set(["anchor", "treasury"]);
