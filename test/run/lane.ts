import { type StdioOptions, spawn } from "node:child_process";
import { join } from "node:path";
import { killGroup } from "../support/kill-group.ts";
import { NODE_COMPILE_CACHE } from "./compile-cache.ts";
import { COUNTS, type Counts, END, FAILURES } from "./reporter.ts";

/** How the tests of a file did. */
export interface Outcome extends Counts {
  readonly what: string;
  /** What was shown of its tests, and of those that failed. */
  readonly tree: string;
  readonly failures: string;
}

/** One process after the other that runs test files, which share what is kept in modules. */
export interface Lane {
  run(file: string): Promise<Outcome>;
  /** Closes what the files have shared. The process has to end by itself. */
  end(): Promise<Outcome | undefined>;
}

const ROOT = join(import.meta.dirname, "../..");
/** Megabytes for young objects from the beginning: with V8's one, a process collects garbage a tenth of its time. */
const YOUNG = "--min-semi-space-size=16";
/** No file needs so long. */
const TIMEOUT_MS = 600_000;
/**
 * So long after its tests a process may close what they have opened, and write its cache of compiled code. One that runs
 * on has left something running.
 */
const END_MS = 120_000;

export function createLane(): Lane {
  let worker: Worker | undefined;
  return {
    async run(file) {
      if (worker?.hasEnded()) worker = undefined;
      worker ??= startWorker();
      return worker.ask(file);
    },

    async end() {
      if (!worker || worker.hasEnded()) return undefined;
      const outcome = await worker.ask(END);
      const { how, told } = await worker.end();
      if (how === SOUND || outcome.failed > 0) return outcome;
      return { ...outcome, failed: 1, failures: `  A process of tests ${how}\n${told}` };
    },
  };
}

interface Worker {
  /** Sends it a file, or `END`. @returns what it reports, or how it has ended instead */
  ask(what: string): Promise<Outcome>;
  hasEnded(): boolean;
  /** Waits until it has ended, for a while. @returns how, and what it has told meanwhile */
  end(): Promise<{ readonly how: string; readonly told: string }>;
}

/** Ends what runs. */
const kills = new Set<() => void>();
const interrupt = (): never => {
  for (const kill of kills) kill();
  process.exit(130);
};
process.once("SIGINT", interrupt).once("SIGTERM", interrupt);

/** The last line of a report is whole. */
const REPORTED = new RegExp(`${COUNTS}.*\\n`);
const SOUND = "ended with exit code 0";

/** It leads a process group, so that what it has started ends with it. */
function startWorker(): Worker {
  const args = [YOUNG, join(import.meta.dirname, "worker.ts"), ...(process.stdout.isTTY ? ["--color"] : [])];
  const env = { NODE_COMPILE_CACHE, ...process.env };
  const stdio: StdioOptions = ["ignore", "pipe", "pipe", "ipc"];
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio, detached: true });
  const kill = (): void => killGroup(child.pid);
  kills.add(kill);
  let [output, errors, how] = ["", "", ""];
  let reported = (): void => {};
  const closed = new Promise<void>((resolve) => {
    child.once("close", (code, signal) => {
      kills.delete(kill);
      how = signal ? `did not end by itself, but by ${signal}` : `ended with exit code ${code}`;
      reported();
      resolve();
    });
  });
  child.once("exit", (code) => code !== 0 && kill()); // What it has started may hold its output open.
  child.on("error", () => {}); // What it is told after its end.
  child.stderr!.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  child.stdout!.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    if (REPORTED.test(output)) reported();
  });

  return {
    hasEnded: () => how !== "",

    async ask(what) {
      const timer = setTimeout(kill, TIMEOUT_MS);
      await new Promise<void>((resolve) => {
        reported = resolve;
        child.send(what);
      });
      clearTimeout(timer);
      const [tree = "", closing] = output.split(FAILURES);
      const [failures = "", counts] = closing?.split(COUNTS) ?? [];
      const shown = { what, tree: tree + errors, failures };
      [output, errors] = ["", ""];
      if (counts) return { ...shown, ...(JSON.parse(counts) as Counts) }; // Our own reporter wrote it.
      return { ...shown, passed: 0, failed: 1, pending: {}, taken: NOTHING, failures: `  ${what}\n  ${how}\n` };
    },

    async end() {
      const timer = setTimeout(kill, END_MS);
      await closed;
      clearTimeout(timer);
      return { how, told: errors };
    },
  };
}

const NOTHING = { wall: 0, cpu: 0 };
