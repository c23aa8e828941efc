import { readdirSync, readFileSync } from "node:fs";

const PAGE_BYTES = 4096;

/** A process and its running descendants; only the process itself where there is no /proc. */
export function treeOf(pid: number): readonly number[] {
  const found = [pid];
  for (const parent of found) for (const child of childrenOf(parent)) if (!found.includes(child)) found.push(child);
  return found;
}

function childrenOf(pid: number): number[] {
  try {
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, "utf8"));
    return lists.flatMap((list) => list.split(" ").filter(Boolean).map(Number));
  } catch {
    return []; // The process has ended, or this is not Linux.
  }
}

/** The memory of a process and its descendants, in bytes; 0 where there is no /proc. */
const memoryOf = (pid: number): number => treeOf(pid).reduce((sum, one) => sum + residentBytes(one), 0);

function residentBytes(pid: number): number {
  try {
    return Number(readFileSync(`/proc/${pid}/statm`, "utf8").split(" ")[1]) * PAGE_BYTES;
  } catch {
    return 0;
  }
}

/** Kills processes. Those that have already ended are skipped. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // Already ended.
    }
  }
}

const WATCH_MS = 1000;

/** Kills a process and its descendants when they take more bytes than `most`. @returns a function that ends the watch */
export function watchMemory(pid: number | undefined, most: number, tell: (bytes: number) => void): () => void {
  if (pid === undefined) return () => {};
  const timer = setInterval(() => {
    const bytes = memoryOf(pid);
    if (bytes <= most) return;
    tell(bytes);
    killAll(treeOf(pid));
  }, WATCH_MS);
  timer.unref();
  return () => clearInterval(timer);
}

/** The processes that are killed when this one exits. */
const bound = new Set<number>();
const endBound = (): void => killAll([...bound].flatMap(treeOf));

/** Kills a process and its descendants when this process exits. @returns a function that undoes this */
export function endOnExit(pid: number): () => void {
  if (bound.size === 0) process.on("exit", endBound);
  bound.add(pid);
  return () => {
    bound.delete(pid);
    if (bound.size === 0) process.off("exit", endBound);
  };
}
