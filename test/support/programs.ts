import { isInstalled, type Program } from "../run/programs.ts";
import { findChromium } from "./chromium.ts";

/** mocha's `describe` and `it`. When something is missing, their tests are skipped and counted as pending. */
interface Declare {
  readonly describe: (title: string, suite: (this: Mocha.Suite) => void) => unknown;
  readonly it: (title: string, test: Mocha.AsyncFunc) => unknown;
}

/** Looks `describe` and `it` up on each call, because mocha gives every file its own. */
const where = (isThere: boolean): Declare => ({
  describe: (...suite) => (isThere ? describe : describe.skip)(...suite),
  it: (...test) => (isThere ? it : it.skip)(...test),
});

export const withRedis = where(isInstalled("redis-server"));
export const withCurl = where(isInstalled("curl"));
export const withProgram = (program: Program): Declare => where(isInstalled(program));
export const withBrowser = where(findChromium() !== undefined);
