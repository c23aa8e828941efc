import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createClient } from "@keyv/redis";
import { eventually } from "../eventually.ts";
import { findFreePort } from "../free-port.ts";

/** A Redis on a free port that keeps its data across `restart`. */
export interface TestRedis {
  readonly url: string;
  /** Kills the process, like a crash. */
  kill(): Promise<void>;
  /** Stops answering until `resume`, with its connections open. */
  pause(): void;
  resume(): void;
  /** Keeps a copy of its data. */
  copy(): Promise<void>;
  /** Starts it again on the same port, with its data, empty, or with the data of the copy. */
  restart(options?: { readonly isEmpty?: boolean; readonly isCopy?: boolean }): Promise<void>;
  /** Stops it and removes its data. */
  stop(): Promise<void>;
}

const NOT_INSTALLED =
  "redis-server is needed for this test and is not installed: apt-get install -y redis-server (Debian, Ubuntu), brew install redis (macOS)";

/** Waits until somebody has pinged a Redis. */
export async function untilPinged(url: string): Promise<void> {
  const client = createClient({ url });
  await client.connect();
  await new Promise<void>((resolve, reject) => {
    client.monitor((command) => /"PING"$/i.test(String(command)) && resolve()).catch(reject);
  });
  client.destroy();
}

/** Starts `redis-server` on loopback. @throws Error that says how to install it when it is missing. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), "payphone-redis-"));
  const data = join(folder, "appendonlydir");
  const port = await findFreePort();
  let server = await launch(port, folder);
  const end = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    const exit = once(server, "exit");
    server.kill("SIGKILL");
    await exit;
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    kill: end,
    pause: () => void server.kill("SIGSTOP"),
    resume: () => void server.kill("SIGCONT"),
    copy: () => cp(data, `${data}-copy`, { recursive: true }),
    async restart({ isEmpty = false, isCopy = false } = {}) {
      await end();
      if (isEmpty || isCopy) await rm(data, { recursive: true });
      if (isCopy) await rename(`${data}-copy`, data);
      server = (await eventually(() => launchUnlessTaken(port, folder))) as ChildProcess; // It waits for one.
    },
    async stop() {
      await end();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A killed server's child, amid writing the log anew, keeps its port for a moment. */
const launchUnlessTaken = (port: number, folder: string): Promise<ChildProcess | undefined> =>
  launch(port, folder).catch((error: Error) => {
    if (!error.message.includes("Address already in use")) throw error;
    return undefined;
  });

async function launch(port: number, folder: string): Promise<ChildProcess> {
  const options = { port, bind: "127.0.0.1", dir: folder, save: "", appendonly: "yes", appendfsync: "always" };
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, `${value}`]);
  const server = spawn("redis-server", args, { stdio: ["ignore", "pipe", "inherit"] });
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let log = "";
  server.once("error", (cause) => reject(new Error(NOT_INSTALLED, { cause })));
  server.once("exit", () => reject(new Error(`redis-server has ended at once: ${log.slice(-1000)}`)));
  server.stdout.on("data", (chunk: Buffer) => {
    log = `${log}${chunk}`.slice(-10_000);
    if (log.includes("Ready to accept connections")) resolve();
  });
  await promise;
  server.removeAllListeners("exit");
  return server;
}
