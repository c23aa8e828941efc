import { spawn } from "node:child_process";
import { join } from "node:path";
import { type Counts, MARK } from "./reporter.ts";

/** How the files of one process did. */
export interface Outcome extends Counts {
  /** What was shown of its tests, and of those that failed. */
  readonly tree: string;
  readonly failures: string;
}

const ROOT = join(import.meta.dirname, "../..");
const MOCHA = join(ROOT, "node_modules/mocha/bin/mocha.js");
const REPORTER = join(import.meta.dirname, "reporter.ts");
/** Without it, every process strips and compiles the same files again: half of what it takes to start. */
const NODE_COMPILE_CACHE = join(ROOT, "node_modules/.cache/node");
/** Megabytes for young objects from the beginning: with V8's one, a process collects garbage a tenth of its time. */
const YOUNG = "--min-semi-space-size=16";
/** No files need so long. */
const TIMEOUT_MS = 600_000;
/** So long after its tests a process may close what they have opened. One that runs on has left something running. */
const END_MS = 20_000;

/** Runs files in one process of mocha's. It leads a process group, so that what it has started ends with it. */
export function runBatch(files: readonly string[]): Promise<Outcome> {
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  const args = [YOUNG, MOCHA, "--reporter", REPORTER, process.stdout.isTTY ? "--color" : "--no-color", ...files];
  const env = { NODE_COMPILE_CACHE, ...process.env };
  const child = spawn(process.execPath, args, { cwd: ROOT, env, stdio: ["ignore", "pipe", "pipe"], detached: true });
  const kill = (): void => void (child.pid && process.kill(-child.pid, "SIGKILL"));
  const interrupt = (): never => {
    kill();
    process.exit(130);
  };
  const timers = [setTimeout(kill, TIMEOUT_MS)];
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
      if (timers.length === 1 && output.includes(MARK)) timers.push(setTimeout(kill, END_MS));
    });
  child.once("close", (code, signal) => {
    for (const timer of timers) clearTimeout(timer);
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    const why = signal ? `did not end by itself, but by ${signal}` : `ended with exit code ${code}`;
    resolve(toOutcome(output, `${files.join("\n  ")}\n  ${why}`, code));
  });
  return promise;
}

/** A process that ended badly without a failing test counts as one failure. */
function toOutcome(output: string, end: string, code: number | null): Outcome {
  const [tree = "", closing] = output.split(MARK);
  if (closing === undefined) return { passed: 0, failed: 1, pending: {}, times: [], tree, failures: `  ${end}\n` };
  const [line = "", ...failures] = closing.split("\n");
  const counts = JSON.parse(line) as Counts; // Our own reporter wrote it.
  if (code === 0 || counts.failed > 0) return { ...counts, tree, failures: failures.join("\n") };
  return { ...counts, failed: 1, tree, failures: `  ${end}\n` };
}
