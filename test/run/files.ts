import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";

const ROOT = join(import.meta.dirname, "../..");

/** Test files by their paths from the root, those whose path includes one of the texts. No text: all of them. */
export function testFiles(texts: readonly string[]): string[] {
  const all = globSync("test/**/*.test.ts", { cwd: ROOT }).sort();
  return texts.length === 0 ? all : all.filter((path) => texts.some((text) => path.includes(text)));
}

/** Slow suites: those that try very many inputs or very large ones, whole shops, commands and chains. */
const SLOW = [
  /^test\/(attacks|cli|examples)\/|\/served\/|^test\/drivers\/(mcp|proxy)\/|^test\/plugins\/(ledger|wallet\/in)/,
  /fuzz|hostile|injections|discovery\/|faulty-sets|plugins\/datetime|server\/(access-log|input|listen)|screen\/sdn/,
];

/** What can be run after each edit: no other program is started, and nothing is slow. */
export const isUnit = (file: string): boolean =>
  !SLOW.some((pattern) => pattern.test(file)) && !importsOf(file).has("node:child_process");

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

/** It takes longest and begins first. */
const LONGEST = "test/packages/package.test.ts";
/** They wait most of their time, for outages to end and programs to answer; the longest first. */
const WAITING = [
  "drivers/upstream/served/outages",
  "battery/battery",
  "attacks/facilitator",
  "drivers/queue/bullmq",
  "drivers/store/redis",
  "drivers/llm/outages",
  "drivers/upstream/served/recovery",
  "attacks/lies",
  "attacks/lost-replies",
  "drivers/mcp/mcp-server",
  "cli/books/verify",
  "drivers/queue/store",
  "plugins/wallet/intel/world",
  "core/refunds/chain",
  "cli/monitor/page",
  "cli/monitor/webhooks",
  "cli/serve/address-watch",
  "plugins/ledger/spans",
  "core/payments/book",
  "plugins/text/world",
  "drivers/proxy/failures",
  "cli/record/plugin",
  "plugins/calldata/world",
].map((name) => `test/${name}.test.ts`);

/** What takes no processor from the others, in the order in which it is to begin. */
export const waitingOf = (files: readonly string[]): string[] => WAITING.filter((file) => files.includes(file));

/** What the files of one process share, if they import it: servers, a browser, chains, or what takes long to load. */
const SHARED = [
  "test/support/sellers/shared-seller.ts",
  "test/support/sellers/shared-sandbox-server.ts",
  "playwright-core",
  "test/support/chains/chains.ts",
  "viem",
];

/** Files for several processes, each of which takes one after the other. */
export interface Queue {
  /**
   * Takes a file out: the longest first; then one that shares what the process has already; the quick ones last, so that
   * all processes end at about the same time.
   * @param before the file that the process has run
   * @param onlyQuick leaves those that may need other programs
   */
  take(before?: string, onlyQuick?: boolean): string | undefined;
}

export function createQueue(files: readonly string[]): Queue {
  const kinds = new Map(files.map((file) => [file, kindOf(file)]));
  const turns = [...Map.groupBy(files, turnOf)]
    .sort(([one], [other]) => one - other)
    .map(([turn, all]) => ({ turn, all: new Set(all) }));
  const begun = new Set<number | undefined>();
  return {
    take(before, onlyQuick = false) {
      const next = turns.find(({ turn, all }) => all.size > 0 && (turn === QUICK || !onlyQuick));
      const left = [...(next?.all ?? [])];
      const kind = before && kinds.get(before);
      const file =
        left.find((file) => kinds.get(file) === kind) ?? left.find((file) => !begun.has(kinds.get(file))) ?? left[0];
      if (file === undefined) return undefined;
      next?.all.delete(file);
      begun.add(kinds.get(file));
      return file;
    },
  };
}

/** What takes longest, the others, what is quick. */
function turnOf(file: string): number {
  if (file === LONGEST) return 0;
  return isUnit(file) ? QUICK : 1;
}
const QUICK = 2;

/** Where what it shares stands in `SHARED`; the first one counts. */
function kindOf(file: string): number {
  const imports = importsOf(file);
  const at = SHARED.findIndex((one) => imports.has(one));
  return at < 0 ? SHARED.length : at;
}
