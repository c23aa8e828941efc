/** A process of tests: runs the files that it is sent, one at a time; when there are no more, closes what they share. */
import { join } from "node:path";
import Mocha from "mocha";
import settings from "../../package.json" with { type: "json" };
import { closeShared } from "../support/at-end.ts";
import "../support/no-settings.ts";
import { END, Reporter, report } from "./reporter.ts";

/** After this time a process that still runs tells what it has left open, before its runner ends it. */
const TELL_MS = 10_000;
const ROOT = join(import.meta.dirname, "../..");
const { timeout, "forbid-only": forbidOnly } = settings.mocha;
Mocha.reporters.Base.useColors = process.argv.includes("--color");

process.on("message", (file: string) => (file === END ? process.disconnect() : void run(file)));
process.once("disconnect", () => void end()); // Also of a runner that was killed.

async function run(file: string): Promise<void> {
  const mocha = new Mocha({ reporter: Reporter, timeout, forbidOnly });
  mocha.addFile(join(ROOT, file));
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    fail(`${file} cannot be loaded`, error);
    return;
  }
  // The reporter reports what comes of it. Listeners on the process would keep all tests of the file in memory.
  const runner = mocha.run(() => runner.dispose());
}

async function end(): Promise<void> {
  try {
    await closeShared();
    report({ passed: 0, failed: 0, pending: {} });
    setTimeout(tellWhatRuns, TELL_MS).unref();
  } catch (error) {
    fail("What the tests of a process share cannot be closed", error);
  }
}

const tellWhatRuns = (): void => console.error(`  It still has: ${process.getActiveResourcesInfo().join(", ")}`);

function fail(what: string, error: unknown): void {
  const text = (error instanceof Error && error.stack) || String(error);
  report({ passed: 0, failed: 1, pending: {} }, () => process.stdout.write(`  ${what}: ${text}\n`));
}
