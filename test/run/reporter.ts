import Mocha from "mocha";

/** What one process of mocha's counted. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** The number of tests that were left out, by suite. */
  readonly pending: Readonly<Record<string, number>>;
}

/** Begins the line, after the tree of tests, that holds the counts as JSON. Failures follow it. */
export const MARK = "\n@payphone-tests ";

/** mocha's `spec`, with the counts in a form that programs can read. mocha wants a class. */
export default class Reporter extends Mocha.reporters.Spec {
  readonly #pending: Record<string, number> = {};

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    runner.on("pending", ({ parent }) => {
      const suite = parent?.titlePath().join(", ") ?? "";
      this.#pending[suite] = (this.#pending[suite] ?? 0) + 1;
    });
  }

  override epilogue(): void {
    const { passes, failures } = this.stats;
    const counts: Counts = { passed: passes, failed: failures, pending: this.#pending };
    process.stdout.write(`${MARK}${JSON.stringify(counts)}\n`);
    if (failures > 0) Mocha.reporters.Base.list(this.failures);
  }
}
