import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { SandboxDescription } from "../../../runtime/sandbox/open-sandbox.ts";
import { createFolder } from "../folder.ts";
import { INHERITED } from "../inherited.ts";
import { untilRailsUp } from "./rails-up.ts";

const LAUNCHER = join(import.meta.dirname, "../../../runtime/cli/payphone.js");

/** The real `payphone sandbox` in a child process. */
export interface SandboxServer {
  readonly url: string;
  readonly description: SandboxDescription;
  stop(): Promise<void>;
}

/** Starts it on a free port and waits until it can be paid. @param args after the command, e.g. `--online`. */
export async function startSandboxServer(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<SandboxServer> {
  const child = spawn(process.execPath, [LAUNCHER, "sandbox", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...INHERITED, PORT: "0", PAYPHONE_DATA_DIR: createFolder(), ...env },
  });
  const gone = once(child, "exit");
  let said = "";
  child.stderr.on("data", (chunk: Buffer) => {
    said += chunk;
  });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  createInterface(child.stdout).on("line", (line) => {
    const url = /^listening on (\S+)$/.exec(line)?.[1];
    if (url) resolve(url);
  });
  child.once("exit", (code) => reject(new Error(`the sandbox ended with code ${code}: ${said}`)));
  const url = await promise;
  await untilRailsUp(url);
  return {
    url,
    description: (await (await fetch(`${url}/sandbox`)).json()) as SandboxDescription,
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}
