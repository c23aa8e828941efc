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
