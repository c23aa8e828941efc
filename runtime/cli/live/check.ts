import { existsSync } from "node:fs";
import { rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { toFaultLine } from "../../core/set/faults.ts";
import { silentLog } from "../../core/silent-log.ts";
import { openStore } from "../../drivers/store/open-store.ts";
import { type Config, examineConfig, loadEnv } from "../config/config.ts";
import { hasStore } from "../config/server-store.ts";
import { EXIT } from "../exit-code.ts";
import { toPrintableJson } from "../printable.ts";
import { createDrivers } from "../serve/drivers.ts";
import { type Complaints, findComplaints, refuseFaults } from "../serve/serve.ts";
import { tryPlugins } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { lookAtWorld, toFindingTable } from "./live.ts";
import type { LiveFinding } from "./probe.ts";

/**
 * Probes everything that a complete configuration names, and sells nothing. @returns the exit code.
 * @throws Problem `bad-request` with every fault of the set, its plugins and the environment; as JSON, these are findings.
 *   `unavailable` when this user cannot reach the data directory.
 */
export async function runServeCheck(dir: string, { json }: { readonly json: boolean }): Promise<number> {
  const { config, faults } = examineConfig(loadEnv());
  const set = await loadSet(dir);
  const complaints = json ? toComplaintFindings(await findComplaints(set, config, { malformed: faults })) : [];
  if (complaints.length > 0) {
    console.log(toPrintableJson(complaints));
    return EXIT.usage;
  }
  await refuseFaults(set, config, { malformed: faults });
  const { capabilities } = await tryPlugins(set, config.env);
  await using opened = new AsyncDisposableStack();
  const dataDir = toProbedDir(config);
  if (!existsSync(config.dataDir)) opened.defer(() => rmdir(config.dataDir).catch(() => {})); // It may hold something now.
  const store = await openStore({ ...config, dataDir });
  if (dataDir !== config.dataDir) opened.defer(() => rm(dataDir, { recursive: true }));
  opened.defer(() => store.close());
  const { site } = set;
  const drivers = createDrivers({ config, site, store, clock: { now: Date.now }, log: silentLog });
  opened.defer(() => drivers.close());
  const findings = await lookAtWorld({ config, set, rails: drivers.rails, store, capabilities });
  console.log(json ? toPrintableJson(findings) : toFindingTable(findings));
  return findings.every(({ state }) => state !== "failed") ? EXIT.ok : EXIT.failed;
}

const toComplaintFindings = ({ faults, environment }: Complaints): readonly LiveFinding[] => [
  ...faults.map((fault) => ({ what: "set", state: "failed", found: toFaultLine(fault) }) as const),
  ...environment.map((found) => ({ what: "configuration", state: "failed", found }) as const),
];

/** Where no server has kept a store, none is left: commands would take it for the shop's, instead of a sandbox's. */
const toProbedDir = ({ dataDir, redisUrl }: Config): string =>
  redisUrl !== undefined || hasStore(dataDir) ? dataDir : join(dataDir, `check-${process.pid}`);
