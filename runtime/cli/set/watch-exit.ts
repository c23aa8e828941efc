import { AsyncLocalStorage } from "node:async_hooks";
import { syncBuiltinESMExports } from "node:module";
import { setImmediate } from "node:timers/promises";
import { EXIT } from "../exit-code.ts";

/** Until it is disposed of, a plugin that ends the process makes the command or the test fail, also with exit code 0. */
export function watchExit(): Disposable {
  const fail = (code: number): void => {
    if (code !== EXIT.ok) return;
    console.error("payphone: a plugin has ended the process before everything was done");
    process.exitCode = EXIT.failed;
  };
  process.once("exit", fail);
  return { [Symbol.dispose]: () => process.off("exit", fail) };
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

/** Whether an error was made in a plugin's code. */
export const isOfPlugin = (error: unknown): error is Error => error instanceof Error && PLUGIN.test(error.stack ?? "");

/** The work whose rejections are collected; what else runs meanwhile, such as calls of the sold services, has another one. */
const trials = new AsyncLocalStorage<object>();

/**
 * Runs `work`, and collects the errors of promises that plugins leave rejected in it. Those of other plugins' code are left to
 * other listeners; all other errors end the process as before.
 */
export async function collectRejections<T>(work: () => Promise<T>): Promise<{ value: T; errors: readonly Error[] }> {
  const errors: Error[] = [];
  const note = (error: unknown): void => {
    if (!isOfPlugin(error)) throw error;
    if (trials.getStore() === errors) errors.push(error);
  };
  process.on("unhandledRejection", note);
  try {
    const value = await trials.run(errors, work);
    await setImmediate(); // By then Node has told of promises that nothing catches.
    return { value, errors };
  } finally {
    process.off("unhandledRejection", note);
  }
}
