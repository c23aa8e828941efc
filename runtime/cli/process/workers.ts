import cluster, { type Worker } from "node:cluster";
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../api/capabilities.ts";
import { createLog } from "../../drivers/log.ts";
import { examineConfig, loadEnv } from "../config/config.ts";
import { AS_SOLD, isReady, type ReadyMessage, STOP } from "./messages.ts";

/** As many as there are processors. */
export const AUTO = "auto";

/** One that lived longer is replaced at once; others wait, longer each time. */
const SETTLED_MS = 10_000;
const FIRST_WAIT_MS = 500;
const LONGEST_WAIT_MS = 30_000;
/** Workers may take 70 s to end in order (cli/serve/run.ts). */
const GRACE_MS = 75_000;

/**
 * Runs this command in several processes that share the port and the store, and replaces those that die. They are started
 * one after the other: what the first refuses, none begins. A signal to stop lets all of them end in order; SIGHUP is passed
 * on to each.
 */
export async function runWorkers(wanted: number | typeof AUTO): Promise<void> {
  const count = wanted === AUTO ? availableParallelism() : wanted;
  const { config } = examineConfig(loadEnv());
  const log = createLog({ level: config.logLevel });
  const stopping = new AbortController();
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => stopping.abort());
  process.on("SIGHUP", () => {
    hangUps += 1;
    for (const { process: child } of selling) child.kill("SIGHUP");
  });

  const first = await launch();
  if (first.end) {
    process.exitCode = first.end.code;
    return; // It has said why.
  }
  cluster.setupPrimary({ args: [...process.argv.slice(2), AS_SOLD] });
  const slots = [keep(first.worker, stopping.signal, log)];
  for (let at = 1; at < count && !stopping.signal.aborted; at += 1) {
    const next = await launch();
    slots.push(keep(next.end ? undefined : next.worker, stopping.signal, log));
  }
  if (!stopping.signal.aborted) console.log(`${first.banner}\n${count} workers\nlistening on ${first.url}`);
  if (!stopping.signal.aborted) await once(stopping.signal, "abort");
  await stopAll();
  await Promise.all(slots);
}

/** A worker that sells, and where; or how it ended before it did. */
type Launched =
  | ({ readonly worker: Worker; readonly end?: never } & ReadyMessage)
  | { readonly end: WorkerEnd; readonly worker?: never };

interface WorkerEnd {
  readonly code: number;
  readonly signal: string | null;
}

/** Those that can be told by SIGHUP; it would end one that still begins. */
const selling = new Set<Worker>();
/** How often SIGHUP came. */
let hangUps = 0;

async function launch(): Promise<Launched> {
  const before = hangUps;
  const worker = cluster.fork();
  const { promise, resolve } = Promise.withResolvers<Launched>();
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

/** Keeps one place filled until it is over. @param given the worker that has it; undefined when that one has died */
async function keep(given: Worker | undefined, over: AbortSignal, log: Log): Promise<void> {
  let worker = given;
  let waitMs = FIRST_WAIT_MS;
  while (!over.aborted) {
    const since = performance.now();
    if (worker && !worker.isDead()) {
      const { pid } = worker.process;
      const [code, signal] = (await once(worker, "exit")) as [number | null, string | null];
      if (over.aborted) return;
      log.error("worker.died", { pid, code, signal });
    }
    waitMs = performance.now() - since > SETTLED_MS ? FIRST_WAIT_MS : Math.min(waitMs * 2, LONGEST_WAIT_MS);
    if (performance.now() - since <= SETTLED_MS) await sleep(waitMs, undefined, { signal: over }).catch(() => {});
    if (over.aborted) return;
    const next = await launch();
    worker = next.worker;
    if (worker) log.warn("worker.replaced", { pid: worker.process.pid });
    else log.error("worker.not-started", { code: next.end?.code, signal: next.end?.signal });
  }
}

/** Lets all workers end what they do; those that have not begun to sell, or take too long, are ended. */
async function stopAll(): Promise<void> {
  const late = setTimeout(() => {
    for (const { process: child } of workersNow()) child.kill("SIGKILL");
  }, GRACE_MS);
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

const workersNow = (): Worker[] => Object.values(cluster.workers ?? {}).flatMap((worker) => worker ?? []);
