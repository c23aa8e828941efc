/**
 * `npm run test:mutation -- [--sample 100] [--seed 1] [--only <part of a path>]`: changes the money path in one small place
 * at a time, runs the tests that hold it, and prints the changes that no test has noticed. `--sample 0` tries them all.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { findMutants, type Mutant } from "./mutants.ts";
import { TARGETS } from "./targets.ts";
import { type Fate, openLaboratory } from "./trial.ts";

const ROOT = join(import.meta.dirname, "../..");
/** How much longer than the unchanged sources a mutant may take. */
const SLOWER = 5;
const LEAST_PATIENCE_MS = 60_000;

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "100" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
  },
});

const files = TARGETS.flatMap(({ sources, tests }) =>
  globSync([...sources], { cwd: ROOT })
    .filter((file) => file.includes(values.only))
    .map((file): [string, readonly string[]] => [file, expand(tests)]),
);
const testsOf = new Map(files);
const all = findMutants(ROOT, [...testsOf.keys()]);
const chosen = Number(values.sample) === 0 ? all : choose(all, Number(values.sample), Number(values.seed));
console.log(`${chosen.length} of ${all.length} mutants of ${testsOf.size} files, seed ${values.seed}`);

const laboratory = openLaboratory(ROOT);
process.once("SIGINT", () => {
  laboratory.close();
  process.exit(130);
});
const patience = new Map<readonly string[], number>();
const fates: [Mutant, Fate][] = [];
for (const mutant of chosen) {
  const tests = testsOf.get(mutant.file) ?? [];
  const fate = await laboratory.run(tests, await patienceFor(tests), mutant);
  fates.push([mutant, fate]);
  if (fate === "survived") console.log(describe(mutant));
}
laboratory.close();

for (const [file, ofFile] of Map.groupBy(fates, ([{ file }]) => file)) {
  const survivors = ofFile.filter(([, fate]) => fate === "survived").length;
  console.log(`${String(ofFile.length - survivors).padStart(4)} of ${String(ofFile.length).padStart(3)} died  ${file}`);
}
const dead = fates.filter(([, fate]) => fate !== "survived").length;
console.log(`${dead} of ${fates.length} mutants died: ${Math.round((dead / fates.length) * 1000) / 10} %`);

function expand(patterns: readonly string[]): string[] {
  return [...new Set(patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }).sort()))];
}

/** In proportion to what the tests take on the sources as they are. @throws Error when they fail there. */
async function patienceFor(tests: readonly string[]): Promise<number> {
  const key = [...patience.keys()].find((known) => known.join() === tests.join());
  if (key) return patience.get(key) as number;
  const began = performance.now();
  const fate = await laboratory.run(tests, 1_800_000);
  if (fate !== "survived") throw new Error(`these tests fail without any mutant: ${tests.join(" ")}`);
  const ms = Math.max(LEAST_PATIENCE_MS, (performance.now() - began) * SLOWER);
  patience.set(tests, ms);
  return ms;
}

/** So many of them, the same for the same seed (mulberry32), in their order. */
function choose(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  let state = seed;
  const random = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const shuffled = mutants.map((mutant) => ({ mutant, at: random() })).sort((a, b) => a.at - b.at);
  const taken = new Set(shuffled.slice(0, count).map(({ mutant }) => mutant));
  return mutants.filter((mutant) => taken.has(mutant));
}

function describe({ file, line, kind, before, after }: Mutant): string {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 100);
  return `survived  ${file}:${line}  ${kind}: ${short(before)}  →  ${short(after)}`;
}
