import { Problem } from "../../api/problem.ts";
import { loadConfig } from "../config/config.ts";
import { missingForServe } from "../config/serve.ts";
import { checkDir, toFaultProblem } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { digestSet, noteSoundSet, readSoundSet } from "../set/sound-set.ts";
import { closeOnSignal, run } from "./run.ts";

/**
 * Sells the services of a directory for real money.
 * @throws Problem `bad-request` with every fault of the set, or of the environment.
 */
export async function runServe({ dir }: { readonly dir: string }): Promise<void> {
  const config = loadConfig();
  const digest = digestSet(dir);
  const set = await loadSet(dir, digest !== undefined && digest === (await readSoundSet(config.dataDir)));
  if (set.faults.length > 0) throw toFaultProblem(await checkDir(dir, config.env));
  const missing = missingForServe(config, set);
  if (missing.length > 0) {
    const list = missing.map((line) => `  ${line}`).join("\n");
    throw new Problem("bad-request", `Real money needs a complete configuration. What is missing:\n${list}`);
  }
  const running = await run({ set, config });
  if (digest !== undefined && !set.isKnown) await noteSoundSet(config.dataDir, digest);
  closeOnSignal(running.close);
  console.log(`listening on ${running.url}`);
}
