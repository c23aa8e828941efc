import { createRandom } from "../support/random.ts";
import type { Mutant } from "./mutants.ts";

/**
 * So many of them, in their order: one of each file at least, and the same ones for the same seed.
 * @param count 0: all.
 */
export function choose(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  if (count === 0) return [...mutants];
  const random = createRandom(seed);
  const shuffled = mutants
    .map((mutant) => ({ mutant, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ mutant }) => mutant);
  const first = [...Map.groupBy(shuffled, ({ file }) => file).values()].flatMap((ofFile) => ofFile.slice(0, 1));
  const taken = new Set([...new Set([...first, ...shuffled])].slice(0, count));
  return mutants.filter((mutant) => taken.has(mutant));
}
