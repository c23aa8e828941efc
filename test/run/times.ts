import type { Time, Usage } from "./usage.ts";

/** One process of mocha's: when it began and ended, in seconds since the runner began, and what its files took. */
export interface Span {
  readonly begun: number;
  readonly ended: number;
  readonly files: readonly string[];
  readonly times: readonly Time[];
}

/** The lines of `npm test -- --times`: files and processes, those that took most processor time first. */
export function toTimes(spans: readonly Span[], cores: number): string[] {
  const rows = merge(spans.flatMap(({ times }) => times));
  const ended = Math.max(...spans.map((span) => span.ended));
  const cpu = rows.reduce((sum, row) => sum + row.cpu, 0);
  const ends = spans.toSorted((one, other) => one.ended - other.ended).slice(-cores);
  const alone = ended - (ends[0]?.ended ?? ended);
  return [
    "\nSeconds of processors (with programs that were started) and on the clock:",
    ...rows.map((row) => line(row, row.what)),
    "\nProcesses:",
    ...spans.map(toProcess).sort().reverse(),
    "",
    `${cpu.toFixed()} s of processors in ${ended.toFixed()} s on ${cores}: ${idle(cpu, cores * ended)} of them idle.`,
    `Fewer than ${cores} processes ran for the last ${alone.toFixed()} s: ${ends.at(-1)?.files.join(" ") ?? ""}`,
  ];
}

/** Sums what one file has taken: it has a row for each of its suites. */
export function merge(times: readonly Time[]): Time[] {
  const groups = Map.groupBy(times, (time) => time.what);
  const sum = (group: readonly Time[], key: keyof Usage): number => group.reduce((total, one) => total + one[key], 0);
  return [...groups]
    .map(([what, group]) => ({ what, wall: sum(group, "wall"), cpu: sum(group, "cpu") }))
    .sort((one, other) => other.cpu - one.cpu);
}

function toProcess({ begun, ended, files, times }: Span): string {
  const cpu = times.reduce((sum, time) => sum + time.cpu, 0);
  const more = files.length > 1 ? ` and ${files.length - 1} more` : "";
  return line({ wall: ended - begun, cpu }, `from ${begun.toFixed()} s on: ${files[0]}${more}`);
}

const line = ({ cpu, wall }: Usage, text: string): string =>
  `${cpu.toFixed(1).padStart(7)} ${wall.toFixed(1).padStart(7)}  ${text}`;

const idle = (cpu: number, possible: number): string => `${Math.max(0, Math.round(100 - (100 * cpu) / possible))} %`;
