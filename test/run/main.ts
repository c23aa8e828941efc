/**
 * Runs the tests, in two processes more than there are processors, because many of them wait, and in two more for those
 * that hardly do anything else:
 * `npm test` all of them, `npm test -- <text>…` the files whose path includes a text, `npm run test:unit` the quick ones.
 * `--times` says where the time went.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { boundCompileCache } from "./compile-cache.ts";
import { createQueue, isUnit, type Queue, testFiles, waitingOf } from "./files.ts";
import { createLane, type Outcome } from "./lane.ts";
import { installPrograms, missingPrograms } from "./programs.ts";
import { toTimes } from "./times.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    unit: { type: "boolean" },
    times: { type: "boolean" },
    jobs: { type: "string", default: String(availableParallelism() + 2) },
  },
});
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
const ends = await Promise.all([...runAll(others, Number(values.jobs)), ...runAll(waiting, WAITING_JOBS)]);
if (values.times) for (const line of toTimes(outcomes, availableParallelism(), ends)) say(line);
process.exitCode = summarize();

/** Runs files in so many processes at most. @returns when each of them has ended, in seconds */
function runAll(all: readonly string[], processes: number): Promise<number>[] {
  const queue = createQueue(all);
  return Array.from({ length: Math.min(processes, all.length) }, () => work(queue));
}

/**
 * Runs files in a process of its own until there are no more. While programs are installed, the quick ones, which need
 * none. @returns the time of its end, in seconds
 */
async function work(queue: Queue): Promise<number> {
  const lane = createLane();
  for (let before: string | undefined; ; ) {
    const file = queue.take(before, installing !== undefined);
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

/** Says how it went. @returns the exit code: CI leaves nothing out. */
function summarize(): number {
  const sum = (count: (outcome: Outcome) => number): number => outcomes.reduce((total, one) => total + count(one), 0);
  const [passed, failed] = [sum((one) => one.passed), sum((one) => one.failed)];
  const leftOut = outcomes.flatMap(({ pending }) => Object.entries(pending));
  const pending = leftOut.reduce((total, [, tests]) => total + tests, 0);
  for (const { failures } of outcomes) if (failures) say(failures);
  if (pending > 0) {
    say(`Not run, for want of ${missingPrograms().join(" and ") || "what they need"}:`);
    for (const [suite, tests] of leftOut) say(`  ${suite}: ${tests}`);
    if (process.env.CI) say("CI leaves nothing out: this is a failure.");
  }
  const seconds = Math.round(elapsed());
  say(`\n  ${passed} passing (${Math.floor(seconds / 60)}m ${seconds % 60}s)`);
  if (pending > 0) say(`  ${pending} pending`);
  if (failed > 0) say(`  ${failed} failing`);
  return passed === 0 || failed > 0 || (process.env.CI && pending > 0) ? 1 : 0;
}
