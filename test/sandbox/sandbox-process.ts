/**
 * A process that opens a sandbox in a data directory, prints one line of JSON (what runs, or what failed) and keeps
 * running. Tests start it to see what becomes of its children.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parse } from "yaml";
import type { SiteManifest } from "../../runtime/core/set/manifest.ts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import { eventually } from "../support/eventually.ts";

/** The line that the process prints. */
export interface SandboxReport {
  readonly pids?: readonly number[];
  readonly failed?: { readonly code: string; readonly message: string };
}

/** Starts the process and waits for its line. `nodeArgs` come before the script. */
export async function startSandboxProcess(
  dataDir: string,
  nodeArgs: readonly string[] = [],
): Promise<{ child: ChildProcess; report: SandboxReport }> {
  const child = spawn(process.execPath, [...nodeArgs, import.meta.filename, dataDir], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const { promise, resolve, reject } = Promise.withResolvers<SandboxReport>();
  createInterface(child.stdout!).once("line", (line) => resolve(JSON.parse(line) as SandboxReport));
  child.once("exit", (code) => reject(new Error(`The sandbox process ended with code ${code}`)));
  return { child, report: await promise };
}

/** Whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

/** Waits until a process is gone. */
export const untilGone = (pid: number): Promise<boolean> => eventually(() => !isAlive(pid));

if (process.argv[1] === import.meta.filename) {
  const { openSandbox } = await import("../../runtime/sandbox/open-sandbox.ts");
  const { rails } = parse(readFileSync("manifests/_site.yaml", "utf8")) as SiteManifest;
  const report = await openSandbox({ rails, dataDir: process.argv[2]!, log: silentLog }).then(
    ({ chains }): SandboxReport => ({ pids: [...chains.evm.values()].map(({ pid }) => pid) }),
    ({ code, message }): SandboxReport => ({ failed: { code, message } }),
  );
  console.log(JSON.stringify(report));
}
