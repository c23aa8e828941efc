import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** A server in a process of its own. */
export interface Contestant {
  readonly url: string;
  /** Milliseconds from its start to the line that says its port. */
  readonly startMs: number;
  /** Resident memory in bytes. */
  memory(): number;
  stop(): Promise<void>;
}

/** Starts a server of `servers/` (or any other program) and waits until it says its port on its first line. */
export async function start(args: readonly string[], env: NodeJS.ProcessEnv = process.env): Promise<Contestant> {
  const began = performance.now();
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"], env });
  const gone = once(child, "exit");
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const startMs = performance.now() - began;
  child.stdout.resume();
  const port = /(\d+)\D*$/.exec(line)?.[1];
  return {
    url: `http://127.0.0.1:${port}`,
    startMs,
    memory: () => Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1] ?? 0) * 1024,
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}
