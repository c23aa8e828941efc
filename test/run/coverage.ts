/**
 * Runs the tests (`npm run coverage`, with the arguments of `npm test`) and prints how many lines of each room they have
 * executed, in whatever process: servers and workers that end by themselves count, those that were killed do not.
 */
import { spawnSync } from "node:child_process";
import { globSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { isExecuted, readReports } from "./executed.ts";

const ROOT = join(import.meta.dirname, "../..");
const MEASURED = globSync("{runtime,plugins}/**/*.ts", { cwd: ROOT });

const folder = mkdtempSync(join(tmpdir(), "payphone-coverage-"));
const env = { ...process.env, NODE_V8_COVERAGE: folder, NODE_DISABLE_COMPILE_CACHE: "1" };
const main = join(import.meta.dirname, "main.ts");
const { status } = spawnSync(process.execPath, [main, ...process.argv.slice(2)], { stdio: "inherit", env });
print(measure());
rmSync(folder, { recursive: true });
process.exitCode = status ?? 1;

/** The lines of code of a file, by the offsets of their first characters, and whether a process has executed them. */
type Lines = Map<number, boolean>;

function measure(): Map<string, Lines> {
  const files = new Map(MEASURED.map((file) => [file, toLines(file)]));
  for (const report of readReports(folder, ROOT)) {
    const lines = files.get(report.file) ?? new Map<number, boolean>();
    for (const [offset, done] of lines) if (!done) lines.set(offset, isExecuted(report, offset));
  }
  return files;
}

/** Types and comments are no code. Node strips types without moving anything. */
function toLines(file: string): Lines {
  const code = stripTypeScriptTypes(readFileSync(join(ROOT, file), "utf8"));
  return new Map(
    [...code.matchAll(/^ *(?![ /*\n]|[\])};,]+$)/gm)].map(({ 0: { length }, index }) => [index + length, false]),
  );
}

function print(files: ReadonlyMap<string, Lines>): void {
  const rooms = Map.groupBy(files, ([file]) => dirname(file));
  const total = toShare(files.values());
  for (const [room, inRoom] of [...rooms].sort()) say(room, toShare(inRoom.map(([, lines]) => lines)));
  say("all", total);
}

function say(room: string, share: string): void {
  process.stdout.write(`${share} ${room}\n`);
}

function toShare(files: Iterable<Lines>): string {
  const lines = [...files].flatMap((one) => [...one.values()]);
  const executed = lines.filter(Boolean).length;
  return `${((100 * executed) / lines.length).toFixed(1).padStart(5)} % of ${String(lines.length).padStart(5)} lines`;
}
