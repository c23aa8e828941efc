import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../api/capabilities.ts";
import { createLog } from "../../drivers/log.ts";
import { examineConfig, loadEnv } from "../config/config.ts";
import { toInterruptListener } from "../interrupt.ts";
import { AS_SOLD, isReady, type ReadyMessage, STOP } from "./messages.ts";
import { CLOSE_MS } from "./signals.ts";
import { answers, toOwnSocket, toSocketPath } from "./sockets.ts";
import { closeUntaken } from "./untaken.ts";

/** As many workers as there are processors. */
const AUTO = "auto";

/** A worker that ran for longer is replaced at once. Others are replaced after a wait, which grows each time. */
const SETTLED_MS = 10_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** After this time a worker that does not stop is killed. */
const PATIENCE_MS = CLOSE_MS + 5000;

/**
 * Runs this command in several processes that share the port and the store, and replaces those that die. Workers start
 * one after the other; when the first one fails, no other is started. A signal to stop is passed on as an orderly stop,
 * a second SIGINT ends all of them, and SIGHUP is passed on to each.
 */
export async function runWorkers(wanted: number | typeof AUTO): Promise<void> {
  const count = wanted === AUTO ? availableParallelism() : wanted;
  const { config } = examineConfig(loadEnv());
  const log = createLog({ level: config.logLevel });
  const removeSocket = async (pid = 0): Promise<void> => {
    const path = join(config.dataDir, toOwnSocket(pid));
    if (!(await answers(toSocketPath(path)))) await rm(path, { force: true }).catch(() => {}); // A left socket does no harm.
  };
  const stopping = new AbortController();
  let stopped: Promise<void> | undefined;
  const stop = (): void => {
    stopping.abort();
    stopped ??= stopAll(); // At once: a worker that is starting may take long.
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", toInterruptListener({ first: stop, again: killNow }));
  process.on("SIGHUP", () => {
    hangUps += 1;
    for (const { process: child } of selling) child.kill("SIGHUP");
  });

  const first = await launch();
  if (first.end) {
    process.exitCode = first.end.code;
    return; // The worker has printed the reason.
  }
  cluster.setupPrimary({ args: [...process.argv.slice(2), AS_SOLD] });
  const slots = [keep(first.worker, stopping.signal, { log, removeSocket })];
  for (let at = 1; at < count && !stopping.signal.aborted; at += 1) {
    const next = await launch();
    slots.push(keep(next.end ? undefined : next.worker, stopping.signal, { log, removeSocket }));
  }
  if (!stopping.signal.aborted) console.log(`${first.banner}\n${count} workers\nlistening on ${first.url}`);
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  await stopped;
  await Promise.all(slots);
}

/** A worker that has begun to sell, or how it ended before that. */
type Launched =
  | ({ readonly worker: Worker; readonly end?: never } & ReadyMessage)
  | { readonly end: WorkerEnd; readonly worker?: never };

interface WorkerEnd {
  readonly code: number;
  readonly signal: string | null;
}

/** The workers that may get SIGHUP. The signal would end a worker that is still starting. */
const selling = new Set<Worker>();
/** How many SIGHUPs were received. */
let hangUps = 0;
/** Where the command was given. The folder may be replaced by a new one of the same name, or be removed. */
const home = process.cwd();

async function launch(): Promise<Launched> {
  const before = hangUps;
  cluster.setupPrimary({ cwd: existsSync(home) ? home : "/" });
  const { promise, resolve } = Promise.withResolvers<Launched>();
  const fail = (error: Error): void => {
    console.error(`payphone: a worker cannot be started: ${error.message}`);
    resolve({ end: { code: 1, signal: null } });
  };
  let worker: Worker;
  try {
    worker = cluster.fork();
  } catch (error) {
    fail(error as Error); // Node throws when the memory does not suffice for a process.
    return promise;
  }
  closeUntaken(worker);
  worker.once("error", fail);
  worker.once("exit", (code, signal) => {
    selling.delete(worker);
    resolve({ end: { code: code ?? 1, signal } });
  });
  worker.on("message", (message: unknown) => {
    if (!isReady(message)) return;
    selling.add(worker);
    if (hangUps > before) worker.process.kill("SIGHUP");
    resolve({ worker, ...message });
  });
  return promise;
}

interface KeepTerms {
  readonly log: Log;
  /** Removes what a killed worker has left in the data directory. Does not fail. */
  readonly removeSocket: (pid: number | undefined) => Promise<void>;
}

/** Keeps one worker running until `over` is aborted. @param given the running worker; undefined when it has died */
async function keep(given: Worker | undefined, over: AbortSignal, { log, removeSocket }: KeepTerms): Promise<void> {
  let worker = given;
  let waitMs = FIRST_WAIT_MS;
  while (!over.aborted) {
    const since = performance.now();
    if (worker && !worker.isDead()) {
      const { pid } = worker.process;
      const [code, signal] = (await once(worker, "exit")) as [number | null, string | null];
      await removeSocket(pid);
      if (over.aborted) return;
      log.error("worker.died", { pid, code, signal });
    }
    waitMs = performance.now() - since > SETTLED_MS ? FIRST_WAIT_MS : Math.min(waitMs * 2, LONGEST_WAIT_MS);
    if (performance.now() - since <= SETTLED_MS) await sleep(waitMs, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const next = await launch();
    if (over.aborted) return; // It was told to stop, too.
    worker = next.worker;
    if (worker) log.warn("worker.replaced", { pid: worker.process.pid });
    else log.error("worker.not-started", { code: next.end?.code, signal: next.end?.signal });
  }
}

/** Stops all workers in order. Those that are still starting end at once; those that take too long are killed. */
async function stopAll(): Promise<void> {
  const late = setTimeout(killAll, PATIENCE_MS);
  await Promise.all(
    workersNow().map(async (worker) => {
      const gone = once(worker, "exit");
      worker.send(STOP, (error) => {
        if (error) worker.process.kill("SIGKILL");
      });
      await gone;
    }),
  );
  clearTimeout(late);
}

/** Ends at once, with an exit code that tells so. */
function killNow(): void {
  process.exitCode = 1;
  killAll();
}

function killAll(): void {
  for (const { process: child } of workersNow()) child.kill("SIGKILL");
}

const workersNow = (): Worker[] =>
  Object.values(cluster.workers ?? {}).flatMap((worker) => (worker?.process.pid === undefined ? [] : worker));
