import { join } from "node:path";
import { type Command, Option } from "commander";
import { Problem } from "../api/problem.ts";
import { loadConfig, loadEnv } from "./config.ts";
import { EXIT } from "./exit-code.ts";

/** Where payphone itself is. */
export const ROOT = join(import.meta.dirname, "../..");

/** `--dir`: a served directory, and what it is for. */
export const dirOption = (what: string): Option => new Option("--dir <directory>", what).default(ROOT, "this project");

const SERVER_HELP = `
PORT and HOST say where it listens (4021 and 127.0.0.1 unless set; PORT=0 takes any free port), PAYPHONE_DATA_DIR where its
state is kept (.payphone unless set). README.md has all variables.
`;

const SERVED = "the directory with manifests/, plugins/ and schemas/";

/** The commands about a directory of services: `sandbox`, `serve`, `check`, `types` and `record`. */
export function addSetCommands(program: Command): void {
  addServers(program);
  addCheck(program);
  addTypes(program);
  addRecord(program);
}

function addServers(program: Command): void {
  program
    .command("sandbox")
    .description("sell the services for play money: chains, facilitator and a funded buyer are embedded, all offline")
    .option(
      "--online",
      "let services read the live sources that they name, instead of recordings; the money stays play money",
    )
    .addOption(dirOption(SERVED))
    .addHelpText("after", SERVER_HELP)
    .action(async ({ dir, online = false }: { dir: string; online?: boolean }) =>
      (await import("./sandbox.ts")).runSandbox({ dir, online }),
    );
  program
    .command("serve")
    .description("sell the services for real money; says what the environment lacks, and starts when nothing does")
    .addOption(dirOption(SERVED))
    .addHelpText("after", SERVER_HELP)
    .action(async (options: { dir: string }) => (await import("./serve.ts")).runServe(options));
}

function addCheck(program: Command): void {
  program
    .command("check")
    .description("find every fault of the manifests, schemas and plugins")
    .option("--discovery", "look at a sound set as the directories that list services do")
    .addOption(dirOption(SERVED))
    .action(async ({ dir, discovery = false }: { dir: string; discovery?: boolean }) => {
      if (discovery) return lookAsDirectories(dir);
      const { checkDir, toReport } = await import("./check.ts");
      const faults = await checkDir(dir, loadEnv());
      const unread = await checkRecordings(dir);
      const report = unread.length > 0 && faults.length === 0 ? [] : [toReport(faults)];
      console.log([...unread, ...report].join("\n"));
      process.exitCode = faults.length + unread.length > 0 ? EXIT.failed : EXIT.ok;
    });
}

/** What is wrong with recordings: a line each. No server needs them but the sandbox. */
async function checkRecordings(dir: string): Promise<readonly string[]> {
  const { loadRecordings } = await import("../sandbox/recordings.ts");
  try {
    loadRecordings(dir);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message.split("\n");
  }
}

async function lookAsDirectories(dir: string): Promise<void> {
  const { checkDiscovery, toDiscoveryReport } = await import("./discovery-check.ts");
  const { env, publicBaseUrl: baseUrl } = loadConfig();
  const findings = await checkDiscovery(dir, { env, baseUrl });
  console.log(toDiscoveryReport(findings));
  process.exitCode = findings.some(({ level }) => level === "error") ? EXIT.failed : EXIT.ok;
}

function addTypes(program: Command): void {
  program
    .command("types")
    .description("write the types of handlers from manifests and schemas")
    .option("--check", "write nothing, and fail when a file is not current")
    .addOption(dirOption(SERVED))
    .action(async ({ dir, check = false }: { dir: string; check?: boolean }) => {
      const { writeTypes } = await import("./types.ts");
      const stale = await writeTypes(dir, { check });
      const command = dir === ROOT ? "payphone types" : `payphone types --dir ${dir}`;
      for (const file of stale) console.log(check ? `${file} is not current: run "${command}"` : `${file} written`);
      if (stale.length === 0) console.log("all current");
      process.exitCode = check && stale.length > 0 ? EXIT.failed : EXIT.ok;
    });
}

function addRecord(program: Command): void {
  program
    .command("record")
    .description("ask the live sources again what the recordings have asked, and tell which answers have another shape")
    .argument("[upstreams...]", "the sources' ids; all of them unless some are named")
    .option("--check", "compare, and write nothing")
    .addOption(dirOption(SERVED))
    .action(async (ids: string[], { dir, check = false }: { dir: string; check?: boolean }) => {
      const { runRecord } = await import("./record.ts");
      const { report, hasFailed } = await runRecord({ dir, ids, check, env: loadEnv() });
      console.log(report);
      process.exitCode = hasFailed ? EXIT.failed : EXIT.ok;
    });
}
