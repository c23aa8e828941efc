import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Time } from "./usage.ts";

/** Seconds that files took on the clock when they were last run here, by path. */
export type Durations = Readonly<Record<string, number>>;

const FILE = join(import.meta.dirname, "../../node_modules/.cache/tests.json");
/** Of a file that was never run here, beside others that were. */
const USUAL_SECONDS = 2;

/** Empty where nothing was run yet. */
export function readDurations(): Durations {
  try {
    return JSON.parse(readFileSync(FILE, "utf8")) as Durations; // We wrote it.
  } catch {
    return {};
  }
}

/** Adds what files took to what is known. */
export function writeDurations(times: readonly Time[]): void {
  const taken = times.filter(({ what }) => what.endsWith(".test.ts")).map(({ what, wall }) => [what, wall]);
  mkdirSync(dirname(FILE), { recursive: true });
  writeFileSync(FILE, JSON.stringify({ ...readDurations(), ...Object.fromEntries(taken) }));
}

/** Batches in the order in which the last one ends soonest: those never run here as given, and then the longest first. */
export function longestFirst(batches: readonly (readonly string[])[], known: Durations): (readonly string[])[] {
  const isKnown = (files: readonly string[]): boolean => files.some((file) => file in known);
  const secondsOf = (files: readonly string[]): number =>
    files.reduce((sum, file) => sum + (known[file] ?? USUAL_SECONDS), 0);
  const sorted = batches.filter(isKnown).sort((one, other) => secondsOf(other) - secondsOf(one));
  return [...batches.filter((files) => !isKnown(files)), ...sorted];
}
