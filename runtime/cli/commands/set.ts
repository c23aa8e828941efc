import { type Command, Option } from "commander";
import { Problem } from "../../api/problem.ts";
import { loadConfig, loadEnv } from "../config/config.ts";
import { findShop, toShop } from "../config/shop.ts";
import { EXIT } from "../exit-code.ts";
import { printable } from "../printable.ts";
import { watchExit } from "../set/plugins/watch-exit.ts";
import { shopOption } from "./directory.ts";

/** The commands for a set that sell nothing: `check`, `types`, `record` and `test`. */
export function addSetCommands(program: Command): void {
  addCheck(program);
  addTypes(program);
  addRecord(program);
  addTest(program);
}

function addCheck(program: Command): void {
  program
    .command("check")
    .description("find every fault of the manifests, schemas and plugins")
    .option("--discovery", "check documents, challenges and probes as the directories that list services do")
    .addOption(shopOption())
    .action(async ({ dir: given, discovery = false }: { dir?: string; discovery?: boolean }) => {
      const dir = toShop(given);
      using _watch = watchExit();
      if (discovery) return lookAsDirectories(dir);
      const { checkDir, toFaultReport } = await import("../set/check.ts");
      const faults = await checkDir(dir, loadEnv());
      const unread = await checkRecordings(dir);
      const report = unread.length > 0 && faults.length === 0 ? [] : [toFaultReport(faults)];
      console.log([...unread, ...report].join("\n"));
      end(faults.length + unread.length > 0 ? EXIT.failed : EXIT.ok);
    });
}

/** The faults of recordings, one line each. Only the sandbox needs recordings. */
async function checkRecordings(dir: string): Promise<readonly string[]> {
  const { loadRecordings } = await import("../../sandbox/recordings/recordings.ts");
  try {
    loadRecordings(dir);
    return [];
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return error.message.split("\n").map(printable);
  }
}

async function lookAsDirectories(dir: string): Promise<void> {
  const { checkDiscovery, toDiscoveryReport } = await import("../discovery/check.ts");
  const { env, publicBaseUrl: baseUrl } = loadConfig();
  const findings = await checkDiscovery(dir, { env, baseUrl });
  console.log(toDiscoveryReport(findings));
  end(findings.some(({ level }) => level === "error") ? EXIT.failed : EXIT.ok);
}

function addTypes(program: Command): void {
  program
    .command("types")
    .description("write the types of handlers from manifests and schemas")
    .option("--check", "write nothing; fail when a file is not current")
    .addOption(shopOption())
    .action(async ({ dir: given, check = false }: { dir?: string; check?: boolean }) => {
      const dir = toShop(given);
      const { writeTypes } = await import("../set/types.ts");
      const stale = await writeTypes(dir, { check });
      const command = dir === findShop() ? "payphone types" : `payphone types --dir ${dir}`;
      for (const file of stale) console.log(check ? `${file} is not current: run "${command}"` : `${file} written`);
      if (stale.length === 0) console.log("all current");
      process.exitCode = check && stale.length > 0 ? EXIT.failed : EXIT.ok;
    });
}

function addRecord(program: Command): void {
  program
    .command("record")
    .description("repeat the recorded requests against the live sources, and report answers whose shape changed")
    .argument("[upstreams...]", "ids of the sources; all by default; with --new also a service, and an input as JSON")
    .addOption(new Option("--check", "compare, and write nothing").conflicts("new"))
    .option("--new", "record what examples, or the input of one service, ask where no recording answers")
    .addOption(shopOption())
    .action(async (ids: string[], options: { dir?: string; check?: boolean; new?: boolean }) => {
      const dir = toShop(options.dir);
      using _watch = watchExit();
      const { runRecord } = await import("../record/record.ts");
      const { recordMissing } = await import("../contract/missing.ts");
      const terms = { dir, ids, env: loadEnv() };
      const run = options.new ? recordMissing(terms) : runRecord({ ...terms, check: options.check ?? false });
      const { report, hasFailed } = await run;
      console.log(report);
      end(hasFailed ? EXIT.failed : EXIT.ok);
    });
}

const TEST_HELP = `
Each example's input goes through its handler, with recordings in the place of all sources. The output is held to its schema
and, where the manifest shows an output, compared with it. What differs from run to run (times, signatures, chance) is held
to the schema alone. The same from mocha or node:test: import { contractTests } from "payphone/test".

Examples:
  payphone test
  payphone test count_words
`;

function addTest(program: Command): void {
  program
    .command("test")
    .description("run every example of every manifest, offline, and compare what comes out")
    .argument("[services...]", "ids of services; all by default")
    .addOption(shopOption())
    .addHelpText("after", TEST_HELP)
    .action(async (services: string[], { dir: given }: { dir?: string }) => {
      const dir = toShop(given);
      const { runTest } = await import("../contract/run.ts");
      const haveComeTrue = await runTest({ dir, services, env: loadEnv(), print: (line) => console.log(line) });
      end(haveComeTrue ? EXIT.ok : EXIT.failed);
    });
}

/**
 * Ends once everything is printed: a timer or a connection that a plugin leaves open would keep the process running. Node
 * has then reported a rejected promise that nothing catches, which would end a server.
 */
function end(code: number): void {
  process.exitCode = code;
  process.stdout.write("", () => setImmediate(() => process.exit()));
}
