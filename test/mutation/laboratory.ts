import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, cpSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Report, readReports } from "../run/executed.ts";
import { killGroup } from "../support/kill-group.ts";
import type { Mutant } from "./mutants.ts";

const PARTS = ["manifests", "plugins", "runtime", "schemas", "test", "package.json", "tsconfig.json"];
/** How much longer than on the sources as they are tests may take on a mutant. */
const SLOWER = 3;
const LEAST_PATIENCE_MS = 20_000;
/** No test file needs so long. */
const LONGEST_MS = 600_000;
/** Test files that take less together share a process. */
const BATCH_MS = 3000;

/** A test file on the sources as they are. */
export interface Trial {
  readonly test: string;
  readonly ms: number;
  /** What its processes have run, those that were killed aside. */
  readonly reports: readonly Report[];
}

/** What became of a mutant: a test failed, or did not end in time, or nothing noticed. */
export interface Fate {
  readonly end: "died" | "timed out" | "survived";
  /** The tests that failed, as mocha prints them. */
  readonly by: string;
}

/** A copy of the sources in which one mutant at a time lives. */
export interface Laboratory {
  /** @throws Error when the test fails on the sources as they are. */
  measure(test: string): Promise<Trial>;
  /** Runs these tests on the mutant, in their order, until one fails. */
  run(mutant: Mutant, trials: readonly Trial[]): Promise<Fate>;
  close(): void;
}

export function openLaboratory(root: string): Laboratory {
  const folder = mkdtempSync(join(tmpdir(), "payphone-mutants-"));
  for (const part of PARTS) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const mocha = join(root, "node_modules/mocha/bin/mocha.js");
  const NODE_COMPILE_CACHE = join(root, "node_modules/.cache/node");

  return {
    async measure(test) {
      const coverage = mkdtempSync(join(folder, "coverage-"));
      const began = performance.now();
      const { end, by } = await runTests([test], LONGEST_MS, { NODE_V8_COVERAGE: coverage });
      const ms = performance.now() - began;
      const reports = readReports(coverage, folder);
      rmSync(coverage, { recursive: true });
      if (end !== "survived") throw new Error(`${test} ${end} on the sources as they are\n${by}`);
      return { test, ms, reports };
    },

    async run(mutant, trials) {
      const file = join(folder, mutant.file);
      const text = readFileSync(file, "utf8");
      writeFileSync(file, text.slice(0, mutant.start) + mutant.after + text.slice(mutant.end));
      try {
        for (const batch of toBatches(trials)) {
          const patienceMs = Math.max(LEAST_PATIENCE_MS, sum(batch) * SLOWER);
          const tests = batch.map(({ test }) => test);
          const fate = await runTests(tests, patienceMs, { NODE_COMPILE_CACHE });
          if (fate.end !== "survived") return fate;
        }
        return { end: "survived", by: "" };
      } finally {
        writeFileSync(file, text);
      }
    },

    close: () => rmSync(folder, { recursive: true, force: true }),
  };

  async function runTests(tests: readonly string[], patienceMs: number, env: NodeJS.ProcessEnv): Promise<Fate> {
    const args = [mocha, "--bail", "--exit", "--reporter", "dot", "--no-color", ...tests];
    const output = openSync(join(folder, "output"), "w");
    const child = spawn(process.execPath, args, {
      cwd: folder,
      env: { ...process.env, ...env },
      stdio: ["ignore", output, "ignore"],
      detached: true, // In a group of its own, so that its own processes end with it.
    });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      killGroup(child.pid);
    }, patienceMs);
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    killGroup(child.pid);
    closeSync(output);
    if (isLate) return { end: "timed out", by: tests.join(" ") };
    if (code === 0) return { end: "survived", by: "" };
    const text = readFileSync(join(folder, "output"), "utf8");
    return { end: "died", by: text.slice(text.indexOf("  1) ")) };
  }
}

const sum = (trials: readonly Trial[]): number => trials.reduce((total, { ms }) => total + ms, 0);

function toBatches(trials: readonly Trial[]): Trial[][] {
  const batches: Trial[][] = [];
  for (const trial of trials) {
    const last = batches.at(-1);
    if (last && sum(last) + trial.ms < BATCH_MS) last.push(trial);
    else batches.push([trial]);
  }
  return batches;
}
