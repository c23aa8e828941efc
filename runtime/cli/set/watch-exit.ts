import { syncBuiltinESMExports } from "node:module";
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

/** Until it is disposed of, collects the errors of promises that plugins leave rejected; others end the process as before. */
export function watchRejections(): Disposable & { readonly errors: readonly Error[] } {
  const errors: Error[] = [];
  const note = (error: unknown): void => {
    if (!isOfPlugin(error)) throw error;
    errors.push(error);
  };
  process.on("unhandledRejection", note);
  return { errors, [Symbol.dispose]: () => process.off("unhandledRejection", note) };
}
