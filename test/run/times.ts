import type { Usage } from "./usage.ts";

/** A file of tests, or what its process did after its files. */
export interface Time {
  readonly what: string;
  readonly taken: Usage;
}

/**
 * The lines of `npm test -- --times`: those that took most processor time first.
 * @param ends when the processes ended, in seconds since the runner began
 */
export function toTimes(times: readonly Time[], cores: number, ends: readonly number[]): string[] {
  const sorted = times.toSorted((one, other) => other.taken.cpu - one.taken.cpu);
  const cpu = sorted.reduce((sum, { taken }) => sum + taken.cpu, 0);
  const ended = Math.max(...ends);
  const alone = ended - (ends.toSorted((one, other) => other - one)[cores - 1] ?? 0);
  const idle = Math.max(0, Math.round(100 - (100 * cpu) / (cores * ended)));
  return [
    "\nSeconds of processors (with programs that were started) and on the clock:",
    ...sorted.map(({ what, taken }) => `${toSeconds(taken.cpu)} ${toSeconds(taken.wall)}  ${what}`),
    "",
    `${cpu.toFixed()} s of processors in ${ended.toFixed()} s on ${cores}: ${idle} % of them idle.`,
    `Fewer than ${cores} processes ran for the last ${alone.toFixed()} s.`,
  ];
}

const toSeconds = (seconds: number): string => seconds.toFixed(1).padStart(7);
