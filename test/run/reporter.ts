import { relative } from "node:path";
import Mocha from "mocha";
import { since, type Time, usage } from "./usage.ts";

/** What one process of mocha's counted. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** The number of tests that were left out, by suite. */
  readonly pending: Readonly<Record<string, number>>;
  /** What each file took, loading aside. */
  readonly times: readonly Time[];
}

/** Begins the line, after the tree of tests, that holds the counts as JSON. Failures follow it. */
export const MARK = "\n@payphone-tests ";

/** Frames of an error. Mocha wants all of them, and where a recursion has ended in many errors, these took seconds. */
const FRAMES = 50;

/** mocha's `spec`, with the counts in a form that programs can read. mocha wants a class. */
export default class Reporter extends Mocha.reporters.Spec {
  readonly #pending: Record<string, number> = {};
  readonly #times: Time[] = [{ what: "loading files", ...usage() }];
  #before = usage();

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    Error.stackTraceLimit = FRAMES;
    runner.on("pending", ({ parent }) => {
      const suite = parent?.titlePath().join(", ") ?? "";
      this.#pending[suite] = (this.#pending[suite] ?? 0) + 1;
    });
    runner.on("suite end", ({ parent, file = "" }) => {
      if (parent?.root) this.#note(relative("", file));
    });
  }

  #note(what: string): void {
    this.#times.push({ what, ...since(this.#before) });
    this.#before = usage();
  }

  override epilogue(): void {
    const { passes, failures } = this.stats;
    this.#note("closing what files share");
    const counts: Counts = { passed: passes, failed: failures, pending: this.#pending, times: this.#times };
    process.stdout.write(`${MARK}${JSON.stringify(counts)}\n`);
    if (failures > 0) Mocha.reporters.Base.list(this.failures);
  }
}
