/**
 * Runs the tests, in two processes more than there are processors, because many of them wait, and in two more that begin
 * with those that hardly do anything else:
 * `npm test` all of them, `npm test -- <text>…` the files whose path includes a text, `npm run test:unit` the quick ones.
 * `--times` says where the time went.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { boundCompileCache } from "./compile-cache.ts";
import { createQueue, isUnit, type Queue, testFiles, waitingOf } from "./files.ts";
import { createLane, type Outcome } from "./lane.ts";
import { installPrograms, toWants } from "./programs.ts";
import { toTimes } from "./times.ts";

const USAGE = "node test/run/main.ts [--unit] [--times] [--jobs <processes>] [<part of a path>…]";
const { values, positionals } = readArguments();
const WAITING_JOBS = 2;
const started = performance.now();
const say = (text: string): void => void process.stdout.write(`${text}\n`);

boundCompileCache();
let installing = values.unit ? undefined : installPrograms(say);
void installing?.then(() => {
  installing = undefined;
});
const files = testFiles(positionals).filter((file) => !values.unit || isUnit(file));
const waiting = waitingOf(files);
const others = files.filter((file) => !waiting.includes(file));
const outcomes: Outcome[] = [];
const elapsed = (): number => (performance.now() - started) / 1000;
const rest = createQueue(others);
const ends = await Promise.all([
  ...runAll([rest], Math.min(Number(values.jobs), others.length)),
  ...runAll([createQueue(waiting), rest], Math.min(WAITING_JOBS, waiting.length)),
]);
if (values.times) for (const line of toTimes(outcomes, availableParallelism(), ends)) say(line);
process.exitCode = summarize();

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        unit: { type: "boolean" },
        times: { type: "boolean" },
        jobs: { type: "string", default: String(availableParallelism() + 2) },
      },
    });
  } catch (error) {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exit(1);
  }
}

/** Runs the files of queues, one queue after the other, in so many processes. @returns when each has ended, in seconds */
function runAll(queues: readonly Queue[], processes: number): Promise<number>[] {
  return Array.from({ length: processes }, () => work(queues));
}

/**
 * Runs files in a process of its own until there are no more. While programs are installed, the quick ones, which need
 * none. @returns the time of its end, in seconds
 */
async function work(queues: readonly Queue[]): Promise<number> {
  const lane = createLane();
  for (let before: string | undefined; ; ) {
    const file = take(queues, before);
    if (file) {
      const outcome = await lane.run(file);
      outcomes.push(outcome);
      say(outcome.tree);
      before = file;
    } else if (installing) await installing;
    else break;
  }
  const last = await lane.end();
  if (last) outcomes.push(last);
  return elapsed();
}

function take(queues: readonly Queue[], before: string | undefined): string | undefined {
  for (const queue of queues) {
    const file = queue.take(before, installing !== undefined);
    if (file) return file;
  }
  return undefined;
}

/** Says how it went. @returns the exit code: CI leaves nothing out. */
function summarize(): number {
  const sum = (count: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + count(one), 0);
  const [passed, failed] = [sum((one) => one.passed), sum((one) => one.failed)];
  const leftOut = outcomes.flatMap(({ pending }) => Object.entries(pending));
  const pending = leftOut.reduce((total, [, tests]) => total + tests, 0);
  for (const { failures } of outcomes) if (failures) say(failures);
  if (pending > 0) {
    say(`Not run, for want of ${toWants()}:`);
    for (const [suite, tests] of leftOut) say(`  ${suite}: ${tests}`);
    if (process.env.CI) say("CI leaves nothing out: this is a failure.");
  }
  const seconds = Math.round(elapsed());
  say(`\n  ${passed} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`);
  if (pending > 0) say(`  ${pending} pending`);
  if (failed > 0) say(`  ${failed} failing`);
  return passed === 0 || failed > 0 || (process.env.CI && pending > 0) ? 1 : 0;
}
