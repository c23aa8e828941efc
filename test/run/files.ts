import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** Test files by their paths from the root, those whose path includes one of the texts. No text: all of them. */
export function testFiles(texts: readonly string[] = []): string[] {
  const all = globSync("test/**/*.test.ts", { cwd: ROOT }).sort();
  return texts.length === 0 ? all : all.filter((path) => texts.some((text) => path.includes(text)));
}

/** Suites that try very many inputs or very large ones. */
const MANY = [
  /^test\/attacks\/|fuzz|hostile/,
  /server\/(access-log|input|listen)\.test|screen\/sdn\.test|ledger\/node\.test|discovery\/check\.test/,
];

/** What can be run after each edit: no other program is started, and nothing is tried ten thousand times. */
export const isUnit = (file: string): boolean =>
  !MANY.some((pattern) => pattern.test(file)) && !startsProcesses(file, new Set());

function startsProcesses(file: string, seen: Set<string>): boolean {
  if (seen.has(file) || !file.endsWith(".ts") || !existsSync(join(ROOT, file))) return false;
  seen.add(file);
  const source = readFileSync(join(ROOT, file), "utf8");
  const imports = [
    ...source.matchAll(/^(?:import|export)\s(?!type )(?:[^"';]*from\s)?"([^"]+)"/gm),
    ...source.matchAll(/\bimport\("([^"]+)"\)/g),
  ].map(([, specifier = ""]) => specifier);
  if (imports.includes("node:child_process")) return true;
  return imports.some((path) => path.startsWith(".") && startsProcesses(join(dirname(file), path), seen));
}

/** These take longest, and begin first, each in a process of its own. Some of them do little but wait. */
const LONG = [
  "test/drivers/upstream/served/outages.test.ts",
  "test/core/jobs/crash.test.ts",
  "test/core/payments/crash.test.ts",
  "test/core/payments/credit-crash.test.ts",
  "test/battery/battery.test.ts",
  "test/cli/serve/shared-store.test.ts",
  "test/attacks/shutdown.test.ts",
  "test/core/payments/identifier-crash.test.ts",
  "test/attacks/redis-storm.test.ts",
  "test/drivers/upstream/served/sharing.test.ts",
  "test/drivers/upstream/served/recovery.test.ts",
  "test/attacks/lost-replies.test.ts",
  "test/drivers/queue/bullmq.test.ts",
  "test/plugins/wallet/investigate/explorer.test.ts",
];
const BATCH_SIZE = 12;

/** The files in the order and in the groups in which processes run them. */
export function toBatches(files: readonly string[]): string[][] {
  const rest = files.filter((file) => !LONG.includes(file));
  const count = Math.ceil(rest.length / BATCH_SIZE);
  const mixed = Array.from({ length: count }, (_, batch) => rest.filter((_, index) => index % count === batch));
  return [...LONG.filter((file) => files.includes(file)).map((file) => [file]), ...mixed];
}
