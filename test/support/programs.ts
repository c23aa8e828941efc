import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { findChromium } from "./chromium.ts";

/** Programs that some tests need and that npm does not bring. `npm test` installs them where it may (test/run/programs.ts). */
export const PROGRAMS = ["redis-server", "curl"] as const;

/** Whether a program is on the PATH. */
export const isInstalled = (program: string): boolean =>
  (process.env.PATH ?? "").split(delimiter).some((folder) => existsSync(join(folder, program)));

/** mocha's `describe` and `it`. Where something is missing, what they declare is left out and counted as pending. */
interface Declare {
  readonly describe: (title: string, suite: (this: Mocha.Suite) => void) => unknown;
  readonly it: (title: string, test: Mocha.AsyncFunc) => unknown;
}

const where = (isThere: boolean): Declare => (isThere ? { describe, it } : { describe: describe.skip, it: it.skip });

export const withRedis = where(isInstalled("redis-server"));
export const withCurl = where(isInstalled("curl"));
export const withBrowser = where(findChromium() !== undefined);
