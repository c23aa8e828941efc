/**
 * Runs the tests, in three processes more than there are processors, because many of them wait:
 * `npm test` all of them, `npm test -- <text>…` the files whose path includes a text, `npm run test:unit` the quick ones.
 * `--times` says where the time went.
 */
import { availableParallelism } from "node:os";
import { parseArgs } from "node:util";
import { type Outcome, runBatch } from "./batch.ts";
import { longestFirst, readDurations, writeDurations } from "./durations.ts";
import { isUnit, testFiles, toBatches } from "./files.ts";
import { installPrograms, missingPrograms } from "./programs.ts";
import { merge, type Span, toTimes } from "./times.ts";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    unit: { type: "boolean" },
    times: { type: "boolean" },
    jobs: { type: "string", default: String(availableParallelism() + 3) },
  },
});
const started = performance.now();
const say = (text: string): void => void process.stdout.write(`${text}\n`);

if (!values.unit) installPrograms(say);
const files = testFiles(positionals).filter((file) => !values.unit || isUnit(file));
const batches = longestFirst(toBatches(files), readDurations());
const outcomes: (Outcome & Span)[] = [];
const elapsed = (): number => (performance.now() - started) / 1000;
await Promise.all(Array.from({ length: Number(values.jobs) }, work));
writeDurations(merge(outcomes.flatMap(({ times }) => times)));
if (values.times) for (const line of toTimes(outcomes, availableParallelism())) say(line);
process.exitCode = summarize();

async function work(): Promise<void> {
  for (let batch = batches.shift(); batch; batch = batches.shift()) {
    const begun = elapsed();
    const outcome = await runBatch(batch);
    outcomes.push({ ...outcome, files: batch, begun, ended: elapsed() });
    say(outcome.tree);
  }
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
