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
  for (const path of namedIn(file)) importsOf(path, found);
  return found;
}

/** By file: most are imported by many. */
const named = new Map<string, readonly string[]>();

/** The same that a file names itself. Nothing for a package. */
function namedIn(file: string): readonly string[] {
  const known = named.get(file) ?? readNamed(file);
  named.set(file, known);
  return known;
}

function readNamed(file: string): readonly string[] {
  if (!file.endsWith(".ts") || !existsSync(join(ROOT, file))) return [];
  const source = readFileSync(join(ROOT, file), "utf8");
  const imports = [
    ...source.matchAll(/^(?:import|export)\s(?!type )(?:[^"';]*from\s)?"([^"]+)"/gm),
    ...source.matchAll(/\bimport\("([^"]+)"\)/g),
  ];
  return imports.map(([, path = ""]) => (path.startsWith(".") ? join(dirname(file), path) : path));
}

/** Each group has a process of its own. Some of these do little but wait for long. */
const LONG: readonly (readonly string[])[] = [
  [
    "test/drivers/upstream/served/outages.test.ts",
    "test/drivers/upstream/served/sharing.test.ts",
    "test/drivers/upstream/served/recovery.test.ts",
  ],
  ["test/packages/package.test.ts"],
  [
    "test/battery/battery.test.ts",
    "test/attacks/redis-storm.test.ts",
    "test/attacks/lost-replies.test.ts",
    "test/drivers/queue/bullmq.test.ts",
  ],
  [
    "test/core/jobs/crash.test.ts",
    "test/core/payments/identifiers/crash.test.ts",
    "test/core/payments/crash.test.ts",
    "test/core/payments/credit-crash.test.ts",
  ],
  ["test/cli/serve/shared-store.test.ts", "test/cli/serve/swap.test.ts", "test/attacks/shutdown.test.ts"],
];
/**
 * What the files of one process share, if they import it: servers and a browser, chains, or what takes long to load.
 * The first one counts. Those with servers or chains take longest.
 */
const SHARED = [
  ["test/support/sellers/shared-seller.ts", "test/support/sellers/shared-sandbox-server.ts", "playwright-core"],
  ["test/support/chains/chains.ts"],
  ["viem"],
];
/** The most files of one process, which takes most of a second to start; where there are few files, fewer. */
const BATCH_SIZE = { quick: 56, busy: 39 };
const BATCHES = 8;

/** The files in the order and in the groups in which processes run them: what takes longest begins first. */
export function toBatches(files: readonly string[]): string[][] {
  const long = LONG.map((group) => group.filter((file) => files.includes(file))).filter(({ length }) => length > 0);
  const rest = files.filter((file) => !long.flat().includes(file));
  const {
    quick = [],
    busy = [],
    other = [],
  } = Object.groupBy(rest, (file) => {
    if (isUnit(file)) return "quick"; // Last, so that all processes end at about the same time.
    return kindOf(file) < 2 ? "busy" : "other";
  });
  const toGroups = (few: readonly string[], most: number): string[][] => {
    const size = Math.min(most, Math.ceil(files.length / BATCHES));
    const groups = [...Map.groupBy(few, kindOf)].sort(([one], [another]) => one - another);
    return groups.flatMap(([, group]) => toMixed(group, size));
  };
  const { busy: most, quick: mostQuick } = BATCH_SIZE;
  return [...toGroups(busy, most), ...long, ...toGroups(other, most), ...toGroups(quick, mostQuick)];
}

/** Where what it shares stands in `SHARED`. */
function kindOf(file: string): number {
  const imports = importsOf(file);
  const at = SHARED.findIndex((shared) => shared.some((one) => imports.has(one)));
  return at < 0 ? SHARED.length : at;
}

/** Neighbours, which take about as long, are in different batches. */
function toMixed(files: readonly string[], size: number): string[][] {
  const count = Math.ceil(files.length / size);
  return Array.from({ length: count }, (_, batch) => files.filter((_, index) => index % count === batch));
}
