import { spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { isRoot } from "../support/as-root.ts";

/** Debian's packages of the programs that some tests need and that npm does not bring. */
const PACKAGES = {
  "redis-server": "redis-server",
  curl: "curl",
  nginx: "nginx-light",
  haproxy: "haproxy",
  caddy: "caddy",
  prometheus: "prometheus",
  zsh: "zsh",
  fish: "fish",
} as const;

export type Program = keyof typeof PACKAGES;

const PROGRAMS = Object.keys(PACKAGES) as Program[];
/** Where Debian has servers, which is on the PATH of root alone. */
const SERVERS = ["/usr/sbin", "/usr/local/sbin"];

/** The path of a program; undefined where it is not installed. */
export const findProgram = (program: string): string | undefined =>
  [...(process.env.PATH ?? "").split(delimiter), ...SERVERS].map((folder) => join(folder, program)).find(existsSync);

export const isInstalled = (program: string): boolean => findProgram(program) !== undefined;

/** The programs that are missing. */
const missingPrograms = (): Program[] => PROGRAMS.filter((program) => !isInstalled(program));

/** What tests may be left out for. */
export const toWants = (): string =>
  [...missingPrograms(), ...(isRoot ? [] : ["root's rights"])].join(" and ") || "what they need";

const APT_TIMEOUT_MS = 300_000;

type Say = (line: string) => void;

/** Installs what is missing with apt-get where that needs no password, and says so. Never fails. */
export function installPrograms(say: Say): Promise<void> | undefined {
  const root = toRoot();
  return missingPrograms().length > 0 && root && isInstalled("apt-get") ? installAs(root, say) : undefined;
}

async function installAs(root: readonly string[], say: Say): Promise<void> {
  const run = async (...args: string[]): Promise<void> => {
    const [command = "", ...rest] = [...root, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", ...args];
    const child = spawn(command, rest, { stdio: ["ignore", "ignore", "inherit"], timeout: APT_TIMEOUT_MS });
    await new Promise((resolve) => child.once("close", resolve).once("error", resolve));
  };
  const install = (...programs: Program[]): Promise<void> =>
    run("install", "-y", "--no-install-recommends", ...programs.map((program) => PACKAGES[program]));
  say(`Installing ${missingPrograms().join(" and ")} with apt-get, for the tests that need them`);
  await run("update");
  await install(...missingPrograms());
  // One that cannot be had keeps apt-get from all of them.
  for (const program of missingPrograms()) {
    await install(program);
    if (!isInstalled(program)) say(`apt-get did not install ${program}`);
  }
}

/** What stands before a command for it to run as root; undefined where that would ask for a password. */
function toRoot(): string[] | undefined {
  if (isRoot) return [];
  const sudo = isInstalled("sudo") && spawnSync("sudo", ["-n", "true"], { stdio: "ignore" }).status === 0;
  return sudo ? ["sudo", "-n"] : undefined;
}
