/** The CPU time of this thread for the work, on average of so many runs, in microseconds. */
export function cpuOf(work: () => unknown, runs: number): number {
  const before = process.threadCpuUsage();
  for (let run = 0; run < runs; run += 1) work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / runs;
}
