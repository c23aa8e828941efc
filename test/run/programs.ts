import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs that some tests need and that npm does not bring. Debian's packages have the same names. */
export const PROGRAMS = ["redis-server", "curl"] as const;

/** Whether a program is on the PATH. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));

/** The programs that are missing. */
export const missingPrograms = (): string[] => PROGRAMS.filter((program) => !isInstalled(program));

const APT_TIMEOUT_MS = 300_000;

/** Installs what is missing with apt-get where that needs no password, and says so. Never fails. */
export function installPrograms(say: (line: string) => void): void {
  const missing = missingPrograms();
  const root = toRoot();
  if (missing.length === 0 || !root || !isInstalled("apt-get")) return;
  const run = (...args: string[]): boolean => {
    const [command = "", ...rest] = [...root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args];
    return spawnSync(command, rest, { stdio: ["ignore", "ignore", "inherit"], timeout: APT_TIMEOUT_MS }).status === 0;
  };
  say(
    `Installing ${missing.join(" and ")} with apt-get, for the tests that need ${missing.length > 1 ? "them" : "it"}`,
  );
  const done = run("update") && run("install", "-y", "--no-install-recommends", ...missing);
  if (!done) say("apt-get has failed");
}

/** What stands before a command for it to run as root; undefined where that would ask for a password. */
function toRoot(): string[] | undefined {
  if (process.getuid?.() === 0) return [];
  const sudo = isInstalled("sudo") && spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0;
  return sudo ? ["sudo", "-n"] : undefined;
}
