import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { digestOf } from "../../core/digest.ts";
import { createLog } from "../../drivers/log.ts";
import type { Sandbox } from "../../sandbox/open-sandbox.ts";
import { loadConfig, readConfig } from "../config/config.ts";
import type { Env } from "../config/reader.ts";
import { closeOnSignal, run } from "../serve/run.ts";
import { checkDir, toFaultProblem, tryPlugins } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { toBanner } from "./banner.ts";
import { toSandboxSources } from "./sources.ts";

/** The command line of `payphone sandbox`. */
export interface SandboxCommand {
  readonly dir: string;
  /** Whether services read live sources instead of recordings. */
  readonly online: boolean;
}

/**
 * Sells the services of a directory for play money, on embedded chains. The environment's own keys and addresses are
 * not used.
 * @throws Problem `bad-request` with every fault of the set; `unavailable` when a part of the sandbox is not installed.
 */
export async function runSandbox({ dir, online }: SandboxCommand): Promise<void> {
  const own = loadConfig();
  const [set, { openSandbox }] = await Promise.all([loadSet(dir), import("../../sandbox/open-sandbox.ts")]);
  if (set.faults.length > 0) throw toFaultProblem(await checkDir(dir, own.env));
  const log = createLog({ level: "warn" });
  const dataDir = join(own.dataDir, "sandbox"); // Records of play money must never mix with those of real money.
  const { anvilBin } = own;
  const sandbox = await openSandbox({ rails: set.site.rails, dataDir, anvilBin, log });
  try {
    const config = readConfig({ ...toEnvironment(own.env, sandbox), PAYPHONE_DATA_DIR: dataDir });
    const { description } = sandbox;
    const { createSandboxPay, SANDBOX_PAY_PATH } = await import("./pay.ts"); // Loads the buyer's SDKs.
    const doors = new Map([[SANDBOX_PAY_PATH, createSandboxPay(set.site.rails, description)]]);
    const running = await run({
      set,
      config,
      sandbox: (next) => ({ description, doors, ...toSandboxSources({ set: next, own, sandbox, online }) }),
      examine: (next) => examine(next, set, own.env),
    });
    closeOnSignal({
      async close() {
        await running.close();
        await sandbox.stop();
      },
    });
    const { services } = running.swap.current().composition;
    console.log(toBanner({ url: running.url, services }, description, set.site));
    console.log(`listening on ${running.url}`);
  } catch (error) {
    await sandbox.stop();
    throw error;
  }
}

/** @throws Problem `bad-request` with every fault, or because the chains of the sandbox do not fit the set any more. */
async function examine(next: ManifestSet, { site }: ManifestSet, env: Env): Promise<void> {
  const { faults } = await tryPlugins(next, env);
  if (faults.length > 0) throw toFaultProblem(faults);
  if (digestOf(next.site.rails) === digestOf(site.rails)) return;
  const detail = "The rails have changed, and a sandbox makes its chains when it starts: start it again";
  throw new Problem("bad-request", detail);
}

/** Variables about money and identity, which come from the sandbox alone. */
const REAL = /^(A2A_|TREASURY_|FACILITATOR_|CDP_|REDIS_URL$)/;

function toEnvironment(
  env: Readonly<Record<string, string | undefined>>,
  sandbox: Sandbox,
): Record<string, string | undefined> {
  const kept = Object.entries(env).filter(([name]) => !REAL.test(name));
  return { LOG_LEVEL: "warn", ...Object.fromEntries(kept), ...sandbox.env };
}
