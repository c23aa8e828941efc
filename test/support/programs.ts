import { isInstalled, type Program } from "../run/programs.ts";
import { findChromium } from "./chromium.ts";

/** mocha's `describe` and `it`. Where something is missing, what they declare is left out and counted as pending. */
interface Declare {
  readonly describe: (title: string, suite: (this: Mocha.Suite) => void) => unknown;
  readonly it: (title: string, test: Mocha.AsyncFunc) => unknown;
}

/** mocha gives every file a `describe` and an `it` of its own. */
const where = (isThere: boolean): Declare => ({
  describe: (...suite) => (isThere ? describe : describe.skip)(...suite),
  it: (...test) => (isThere ? it : it.skip)(...test),
});

export const withRedis = where(isInstalled("redis-server"));
export const withCurl = where(isInstalled("curl"));
export const withProgram = (program: Program): Declare => where(isInstalled(program));
export const withBrowser = where(findChromium() !== undefined);
