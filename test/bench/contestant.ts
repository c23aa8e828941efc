import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { findFreePort } from "../support/free-port.ts";

/** Linux counts processor time in hundredths of a second. */
const TICK_MS = 10;

/** A server in a process of its own. */
export interface Contestant {
  readonly url: string;
  /** Resident memory in bytes. */
  memory(): number;
  /** Processor time that it has used, in milliseconds: steps of ten. */
  cpuMs(): number;
  stop(): Promise<void>;
}

/** Starts a server of `servers/` by its name and waits until it says its port on its first line. */
export async function startServer(name: string, ...args: readonly string[]): Promise<Contestant> {
  const program = join(import.meta.dirname, "servers", `${name}.ts`);
  const child = spawn(process.execPath, [program, ...args], { stdio: ["ignore", "pipe", "inherit"] });
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  child.stdout.resume();
  return toContestant(child, Number(line));
}

/**
 * Starts any server whose port is in the variable PORT, and waits until it answers at a path. It is stopped only after it
 * has said that it listens: until then it may be at work, filling its caches of compiled code for the next start.
 */
export async function startAnswering(
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  path: string,
): Promise<Contestant> {
  const port = await findFreePort();
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "inherit"],
    env: { ...env, PORT: String(port) },
  });
  const isReady = new Promise<void>((done) => {
    createInterface(child.stdout).on("line", (line) => line.startsWith("listening on ") && done());
  });
  for (;;) {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    await answer?.arrayBuffer();
    if (answer?.ok) {
      const running = toContestant(child, port);
      return { ...running, stop: () => isReady.then(running.stop) };
    }
    if (child.exitCode !== null) throw new Error(`${args.join(" ")} ended with ${child.exitCode}`);
    await new Promise((done) => setTimeout(done, 5));
  }
}

function toContestant(child: ChildProcess, port: number): Contestant {
  const gone = once(child, "exit");
  return {
    url: `http://127.0.0.1:${port}`,
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) * 1024,
    cpuMs() {
      const fields = readFileSync(`/proc/${child.pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
      return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
    },
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}
