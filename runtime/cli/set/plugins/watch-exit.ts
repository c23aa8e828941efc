import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import type { AnyHandler } from "../../../api/plugin.ts";
import { EXIT } from "../../exit-code.ts";

/** How many watch. They share a listener: Node takes more than ten for a leak. */
let watching = 0;

/** Until it is disposed of, a plugin that ends the process makes the command or the test fail, also with exit code 0. */
export function watchExit(): Disposable {
  watching += 1;
  if (watching === 1) process.on("exit", fail);
  return {
    [Symbol.dispose]() {
      watching -= 1;
      if (watching === 0) process.off("exit", fail);
    },
  };
}

function fail(code: number): void {
  if (code !== EXIT.ok) return;
  console.error("payphone: a plugin has ended the process before everything was done");
  process.exitCode = EXIT.failed;
}

/** A plugin's file in a stack, by its URL as `versionedUrl` makes it. */
const PLUGIN = /\(?file:\S+\?v=[0-9a-f]+/;

/**
 * From now on, `process.exit` throws where a plugin's code has called it: the process also sells the other services, and
 * an `apply` would end it. All others end the process as before.
 */
export function refuseExit(): void {
  const { exit } = process;
  const refuse = (...code: Parameters<typeof exit>): never => {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = Number.POSITIVE_INFINITY;
    const refusal = new Error("process.exit would end the whole shop: throw an error instead");
    Error.captureStackTrace(refusal, refuse);
    Error.stackTraceLimit = stackTraceLimit;
    if (PLUGIN.test(refusal.stack ?? "")) throw refusal;
    return exit.call(process, ...code); // Without a code it is another call than with undefined.
  };
  process.exit = refuse;
  syncBuiltinESMExports();
}

/** The plugin whose code runs, also in what it has begun and does not await. */
const running = new AsyncLocalStorage<string>();

/** Runs a plugin's code, so that promises which it leaves rejected are known as its own: the errors of `fetch` have no stack. */
export const runAsPlugin = <T>(name: string, work: () => T): T => running.run(name, work);

/** A handler that runs as this plugin's code. */
export function asPlugin(name: string, handler: AnyHandler): AnyHandler {
  const as =
    <A extends unknown[], T>(work: (...args: A) => T) =>
    (...args: A): T =>
      runAsPlugin(name, () => work(...args));
  if (typeof handler === "function") return as(handler);
  const { check, ready, run } = handler;
  return {
    ...(check && { check: as(check.bind(handler)) }),
    ...(ready && { ready: as(ready.bind(handler)) }),
    run: as(run.bind(handler)),
  };
}

/** Whether a promise that nothing catches was left by a plugin. To be asked by a listener of `unhandledRejection` only. */
export const isOfPlugin = (error: unknown): boolean =>
  running.getStore() !== undefined || (error instanceof Error && PLUGIN.test(error.stack ?? ""));

/** What a plugin has left rejected. */
export interface LeftRejection {
  readonly error: unknown;
  /** The plugin's name, if the error came while its code ran. */
  readonly plugin: string | undefined;
}

/** The work whose rejections are collected; what else runs meanwhile, such as calls of the sold services, has another one. */
const trials = new AsyncLocalStorage<object>();

/**
 * Runs `work`, and collects the errors of promises that plugins leave rejected in it. Those of other plugins' code are left to
 * other listeners; all other errors end the process as before.
 */
export async function collectRejections<T>(
  work: () => Promise<T>,
): Promise<{ value: T; rejections: readonly LeftRejection[] }> {
  const rejections: LeftRejection[] = [];
  const note = (error: unknown): void => {
    if (!isOfPlugin(error)) refuse(error);
    else if (trials.getStore() === rejections) rejections.push({ error, plugin: running.getStore() });
  };
  notes.add(note);
  process.on("unhandledRejection", note);
  try {
    const value = await trials.run(rejections, work);
    await setImmediate(); // By then Node has told of promises that nothing catches.
    return { value, rejections };
  } finally {
    process.off("unhandledRejection", note);
    notes.delete(note);
  }
}

/**
 * Hands over the errors of promises that plugins leave rejected, until it is disposed of: in a server of somebody else, which
 * they would end. All other errors end the process as before.
 */
export function watchRejections(onLeft: (error: unknown) => void): Disposable {
  const note = (error: unknown): void => (isOfPlugin(error) ? onLeft(error) : refuse(error));
  notes.add(note);
  process.on("unhandledRejection", note);
  return {
    [Symbol.dispose]() {
      process.off("unhandledRejection", note);
      notes.delete(note);
    },
  };
}

/** The listeners of trials, and of shops in other servers. */
const notes = new Set<unknown>();

/** An error ends the process, as without a listener, unless others listen: they decide about what is theirs. */
function refuse(error: unknown): void {
  if (process.listeners("unhandledRejection").every((one) => notes.has(one))) throw error;
}
