import { readdirSync, readFileSync } from "node:fs";

/** What something has taken: seconds on the clock, and seconds of processors. */
export interface Usage {
  readonly wall: number;
  readonly cpu: number;
}

/** Of this process since it began, with every program that it has started. */
export const usage = (): Usage => ({ wall: performance.now() / 1000, cpu: cpuOf(String(process.pid)) });

/** What was taken since. What ends without its parent waiting for it, such as parts of a browser, is not seen any more. */
export function since(before: Usage): Usage {
  const now = usage();
  return { wall: now.wall - before.wall, cpu: Math.max(0, now.cpu - before.cpu) };
}

/** /proc counts in hundredths of a second. */
const TICKS_PER_SECOND = 100;

/** Seconds of processors. Programs that have ended are counted by their parents. Without /proc, this process alone. */
function cpuOf(pid: string): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    // proc_pid_stat(5): the program's name may hold blanks; utime, stime, cutime and cstime are fields 14 to 17.
    const ticks = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 15);
    const own = ticks.reduce((sum, count) => sum + Number(count), 0) / TICKS_PER_SECOND;
    return childrenOf(pid).reduce((sum, child) => sum + cpuOf(child), own);
  } catch {
    const { user, system } = process.cpuUsage();
    return pid === String(process.pid) ? (user + system) / 1e6 : 0; // The other has ended meanwhile.
  }
}

const childrenOf = (pid: string): string[] =>
  readdirSync(`/proc/${pid}/task`).flatMap((task) =>
    readFileSync(`/proc/${pid}/task/${task}/children`, "utf8").split(" ").filter(Boolean),
  );
