import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Mutant } from "./mutants.ts";

const PARTS = ["manifests", "plugins", "runtime", "schemas", "test", "package.json", "tsconfig.json"];

/** What became of a mutant: a test has failed, or has not ended in time; or nothing has noticed it. */
export type Fate = "died" | "timed out" | "survived";

/** A copy of the sources in which one mutant at a time lives. */
export interface Laboratory {
  /** Runs the tests until one fails. @param mutant none: the sources as they are. */
  run(tests: readonly string[], patienceMs: number, mutant?: Mutant): Promise<Fate>;
  close(): void;
}

export function openLaboratory(root: string): Laboratory {
  const folder = mkdtempSync(join(tmpdir(), "payphone-mutants-"));
  for (const part of PARTS) cpSync(join(root, part), join(folder, part), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const mocha = join(root, "node_modules/mocha/bin/mocha.js");

  return {
    async run(tests, patienceMs, mutant) {
      const file = mutant && join(folder, mutant.file);
      const text = file && readFileSync(file, "utf8");
      if (mutant && file && text) writeFileSync(file, apply(mutant, text));
      try {
        return await test([mocha, "--bail", "--exit", "--reporter", "min", ...tests], patienceMs);
      } finally {
        if (file && text) writeFileSync(file, text);
      }
    },
    close: () => rmSync(folder, { recursive: true, force: true }),
  };

  async function test(args: readonly string[], patienceMs: number): Promise<Fate> {
    // In a group of its own, so that its own processes end with it.
    const child = spawn(process.execPath, args, { cwd: folder, stdio: "ignore", detached: true });
    const end = (): void => void process.kill(-(child.pid as number), "SIGKILL");
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      end();
    }, patienceMs);
    const [code] = await once(child, "exit");
    clearTimeout(timer);
    try {
      end();
    } catch {
      // Nothing of it is left.
    }
    if (isLate) return "timed out";
    return code === 0 ? "survived" : "died";
  }
}

const apply = ({ start, end, after }: Mutant, text: string): string => text.slice(0, start) + after + text.slice(end);
