import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JobQueue, QueuedJob, Turn } from "../../../runtime/core/jobs/queue.ts";
import { eventually } from "../eventually.ts";
import { openTestQueue, type QueuePlace, SERVICES } from "./place.ts";

/** A worker process, and the ids of the jobs that it began, ended and stopped. */
interface Child {
  readonly began: string[];
  readonly ended: string[];
  readonly stopped: string[];
  /** Sends a signal. When the signal ends the process, waits for the end. */
  kill(signal: "SIGKILL" | "SIGUSR2" | "SIGCONT"): Promise<void>;
}

const CHILD = join(import.meta.dirname, "child.ts");

async function startWorker(place: QueuePlace, pace: "hang" | number): Promise<Child> {
  const child = spawn(process.execPath, [CHILD, JSON.stringify(place), String(pace)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const gone = once(child, "exit");
  const seen: Record<string, string[]> = { began: [], ended: [], stopped: [], ready: [] };
  createInterface(child.stdout).on("line", (line) => {
    const [word = "", id = ""] = line.split(" ");
    seen[word]?.push(id);
  });
  await eventually(() => seen.ready?.length === 1);
  return {
    began: seen.began as string[],
    ended: seen.ended as string[],
    stopped: seen.stopped as string[],
    async kill(signal) {
      child.kill(signal);
      if (signal === "SIGKILL") await gone;
    },
  };
}

/** The ids of all services. */
export const ALL = Object.keys(SERVICES);

/** A place for an empty queue. */
export interface TestPlace {
  readonly place: QueuePlace;
  /** Makes the storage of the queue unreachable until `end`. */
  readonly outage: { begin(): Promise<void>; end(): Promise<void> };
  dispose(): Promise<void>;
}

/** An open queue. */
interface Line {
  readonly queue: JobQueue;
  close(): Promise<void>;
}

/** Everything that tests of a queue need. Anything left open is closed after each test. */
export interface QueueStage {
  readonly at: TestPlace;
  openLine(turn?: Turn): Promise<Line>;
  startChild(pace: "hang" | number): Promise<Child>;
  toJob(service: keyof typeof SERVICES): QueuedJob;
  /** Adds this number of jobs, and returns their ids in order. */
  addAll(queue: JobQueue, service: keyof typeof SERVICES, amount: number): Promise<string[]>;
}

/** To be called in a `describe`: prepares a place for each test. */
export function stageQueue(prepare: () => Promise<TestPlace>): QueueStage {
  let at: TestPlace;
  let count = 0;
  const open = new Set<Line>();
  const children = new Set<Child>();
  beforeEach(async () => {
    at = await prepare();
  });
  afterEach(async () => {
    await Promise.all([...children].map((child) => child.kill("SIGKILL")));
    await Promise.all([...open].map((line) => line.close()));
    await at.dispose();
  });

  async function openLine(turn?: Turn): Promise<Line> {
    const { queue, close } = await openTestQueue(at.place);
    const line = {
      queue,
      close() {
        open.delete(line);
        return close();
      },
    };
    open.add(line);
    if (turn) queue.start(turn, ALL);
    return line;
  }
  async function startChild(pace: "hang" | number): Promise<Child> {
    const worker = await startWorker(at.place, pace);
    const child: Child = {
      ...worker,
      kill(signal) {
        if (signal === "SIGKILL") children.delete(child);
        return worker.kill(signal);
      },
    };
    children.add(child);
    return child;
  }
  const toJob = (service: keyof typeof SERVICES): QueuedJob => ({ id: randomUUID(), service, at: 1e12 + count++ });
  async function addAll(queue: JobQueue, service: keyof typeof SERVICES, amount: number): Promise<string[]> {
    const jobs = Array.from({ length: amount }, () => toJob(service));
    for (const job of jobs) await queue.add(job);
    return jobs.map(({ id }) => id);
  }
  return {
    get at() {
      return at;
    },
    openLine,
    startChild,
    toJob,
    addAll,
  };
}
