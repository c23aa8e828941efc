/**
 * `npm run test:mutation -- [--sample 150] [--seed 1] [--only <part of a path>] [--verbose]`: changes the money path in one
 * small place at a time, runs the tests that run this place, and prints the changes that none has noticed. `--sample 0`
 * tries them all; any other sample has at least one mutant of each file.
 */
import { globSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { isExecuted } from "../run/executed.ts";
import { type Fate, openLaboratory, type Trial } from "./laboratory.ts";
import { findMutants, type Mutant } from "./mutants.ts";
import { choose } from "./sample.ts";
import { SOURCES, TESTS } from "./targets.ts";

const ROOT = join(import.meta.dirname, "../..");

const { values } = parseArgs({
  options: {
    sample: { type: "string", default: "150" },
    seed: { type: "string", default: "1" },
    only: { type: "string", default: "" },
    verbose: { type: "boolean", default: false },
  },
});

const files = globSync([...SOURCES], { cwd: ROOT }).sort();
const all = findMutants(
  ROOT,
  files.filter((file) => file.includes(values.only)),
);
const chosen = choose(all, Number(values.sample), Number(values.seed));
console.log(`${chosen.length} of ${all.length} mutants, seed ${values.seed}`);

const laboratory = openLaboratory(ROOT);
process.once("SIGINT", () => {
  laboratory.close();
  process.exit(130);
});
const trials: Trial[] = [];
for (const test of globSync([...TESTS], { cwd: ROOT }).sort()) trials.push(await laboratory.measure(test));
trials.sort((one, other) => one.ms - other.ms);

const fates: [Mutant, Fate][] = [];
for (const mutant of chosen) {
  const fate = await laboratory.run(
    mutant,
    trials.filter(({ reports }) => reports.some((one) => one.file === mutant.file && isExecuted(one, mutant.start))),
  );
  fates.push([mutant, fate]);
  if (fate.end === "survived" || values.verbose) console.log(describe(mutant, fate));
}
laboratory.close();

for (const [file, ofFile] of Map.groupBy(fates, ([mutant]) => mutant.file)) console.log(`${count(ofFile)}  ${file}`);
console.log(`${count(fates)}: ${Math.round((dead(fates) / fates.length) * 1000) / 10} %`);

function describe({ file, line, kind, before, after }: Mutant, { end, by }: Fate): string {
  const short = (text: string): string => text.replaceAll(/\s+/g, " ").slice(0, 100);
  return `${end}  ${file}:${line}  ${kind}: ${short(before)}  →  ${short(after)}${by && `  by ${short(by)}`}`;
}

function dead(some: typeof fates): number {
  return some.filter(([, { end }]) => end !== "survived").length;
}

function count(some: typeof fates): string {
  return `${String(dead(some)).padStart(4)} of ${String(some.length).padStart(3)} died`;
}
