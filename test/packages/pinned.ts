import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { isUnreachable, runIn } from "./installed.ts";

const KEPT = join(import.meta.dirname, "../../node_modules/.cache/pinned");

/**
 * The `node_modules` of a fixture's lock file, which is installed once for all runs: the same lock gives the same files.
 * Undefined when npm's registry cannot be reached. @throws Error with what npm says.
 */
export async function installPinned(fixture: string): Promise<string | undefined> {
  const digest = createHash("sha256")
    .update(readFileSync(join(fixture, "package-lock.json")))
    .digest("hex");
  const kept = join(KEPT, digest.slice(0, 16));
  const modules = join(kept, "node_modules");
  if (existsSync(kept)) return modules;
  mkdirSync(KEPT, { recursive: true });
  const draft = mkdtempSync(`${kept}.`);
  try {
    for (const file of ["package.json", "package-lock.json"]) cpSync(join(fixture, file), join(draft, file));
    const installed = await runIn(draft, "npm ci --ignore-scripts --prefer-offline --no-audit --no-fund");
    if (isUnreachable(installed)) return undefined;
    if (installed.code !== 0) throw new Error(installed.said);
    renameSync(draft, kept);
    return modules;
  } catch (error) {
    if (existsSync(modules)) return modules; // Another run was faster.
    throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
