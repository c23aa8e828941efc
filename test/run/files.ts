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
  /^test\/attacks\/|fuzz|hostile|injections|datetime\/properties/,
  /server\/(access-log|input|listen)\.test|screen\/sdn\.test|ledger\/node\.test|discovery\/check\.test/,
];

/** What can be run after each edit: no other program is started, and nothing is tried ten thousand times. */
export const isUnit = (file: string): boolean =>
  !MANY.some((pattern) => pattern.test(file)) && !importsOf(file).has("node:child_process");

/** The paths and the packages that a file imports, itself and by its imports, types aside. */
function importsOf(file: string, found = new Set<string>()): ReadonlySet<string> {
  if (found.has(file)) return found;
  found.add(file);
  if (!file.endsWith(".ts") || !existsSync(join(ROOT, file))) return found;
  const source = readFileSync(join(ROOT, file), "utf8");
  const imports = [
    ...source.matchAll(/^(?:import|export)\s(?!type )(?:[^"';]*from\s)?"([^"]+)"/gm),
    ...source.matchAll(/\bimport\("([^"]+)"\)/g),
  ];
  for (const [, path = ""] of imports) {
    if (path.startsWith(".")) importsOf(join(dirname(file), path), found);
    else found.add(path);
  }
  return found;
}

/** These take longest, and begin first: each group in a process of its own. Some of them do little but wait. */
const LONG: readonly (readonly string[])[] = [
  ["test/drivers/upstream/served/outages.test.ts"],
  ["test/core/jobs/crash.test.ts", "test/core/payments/identifiers/crash.test.ts"],
  ["test/core/payments/crash.test.ts", "test/core/payments/credit-crash.test.ts"],
  ["test/battery/battery.test.ts"],
  ["test/cli/serve/shared-store.test.ts", "test/cli/serve/swap.test.ts", "test/attacks/shutdown.test.ts"],
  ["test/packages/package.test.ts"],
  ["test/attacks/redis-storm.test.ts", "test/attacks/lost-replies.test.ts", "test/drivers/queue/bullmq.test.ts"],
  ["test/drivers/upstream/served/sharing.test.ts", "test/drivers/upstream/served/recovery.test.ts"],
];
/**
 * What the files of one process share, if they import it: a server, a browser, chains, or what takes long to load. The
 * first one counts.
 */
const SHARED = [
  "test/support/sellers/shared-seller.ts",
  "test/support/sellers/shared-sandbox-server.ts",
  "playwright-core",
  "test/support/chains/chains.ts",
  "viem",
];
/** The most files of one process; where there are few files, fewer, so that all processes have work. */
const BATCH_SIZE = 56;
const BATCHES = 12;

/** The files in the order and in the groups in which processes run them. */
export function toBatches(files: readonly string[]): string[][] {
  const size = Math.min(BATCH_SIZE, Math.ceil(files.length / BATCHES));
  const long = LONG.map((group) => group.filter((file) => files.includes(file))).filter(({ length }) => length > 0);
  const rest = files.filter((file) => !long.flat().includes(file));
  const groups = Map.groupBy(rest, (file) => {
    const imports = importsOf(file);
    const at = SHARED.findIndex((shared) => imports.has(shared));
    const group = at < 0 ? SHARED.length : at;
    return isUnit(file) ? SHARED.length + 1 + group : group; // Quick ones last: all processes end at about the same time.
  });
  const inOrder = [...groups].sort(([one], [other]) => one - other).map(([, group]) => group);
  return [...long, ...inOrder.flatMap((group) => toMixed(group, size))];
}

/** Neighbours, which take about as long, are in different batches. */
function toMixed(files: readonly string[], size: number): string[][] {
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, batch) => files.filter((_, index) => index % count === batch));
}
