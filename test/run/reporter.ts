import Mocha from "mocha";
import { since, type Usage, usage } from "./usage.ts";

/** What came of one file. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
  /** The number of tests that were left out, by suite. */
  readonly pending: Readonly<Record<string, number>>;
  /** Since the report before, or since the process began. */
  readonly taken: Usage;
}

/** Begins the lines that say, after the tree of tests, what failed, and then the line that holds the counts as JSON. */
export const FAILURES = "\n@payphone-failures\n";
export const COUNTS = "\n@payphone-counts ";

/** Sent to a process after its last file. */
export const END = "closing what files share";

/** Writes what came of a file, or of what comes after the last one. @param list writes the failures */
export function report(counts: Omit<Counts, "taken">, list: () => unknown = () => {}): void {
  process.stdout.write(FAILURES);
  list();
  const taken = since(before);
  before = usage();
  process.stdout.write(`${COUNTS}${JSON.stringify({ ...counts, taken } satisfies Counts)}\n`);
}

let before: Usage = { wall: 0, cpu: 0 };

/** Frames of an error. Mocha wants all of them, and where a recursion has ended in many errors, these took seconds. */
const FRAMES = 50;

/** mocha's `spec`, with the counts in a form that programs can read. mocha wants a class. */
export class Reporter extends Mocha.reporters.Spec {
  readonly #pending: Record<string, number> = {};

  constructor(runner: Mocha.Runner, options: Mocha.MochaOptions) {
    super(runner, options);
    Error.stackTraceLimit = FRAMES;
    runner.on("pending", ({ parent }) => {
      const suite = parent?.titlePath().join(", ") ?? "";
      this.#pending[suite] = (this.#pending[suite] ?? 0) + 1;
    });
  }

  override epilogue(): void {
    const { passes: passed, failures: failed } = this.stats;
    report({ passed, failed, pending: this.#pending }, () => failed > 0 && Mocha.reporters.Base.list(this.failures));
  }
}
