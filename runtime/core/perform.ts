import type { Call, Run } from "../api/plugin.ts";
import { Problem } from "../api/problem.ts";
import type { Invocation } from "./call.ts";
import type { Service } from "./service.ts";

/** What is run, and what its output must fit. */
export type Work = Pick<Service, "manifest" | "handler" | "output" | "deadlineMs">;

/** A call; one that is a job says how its steps are kept. */
export type CallFacts = Omit<Call, "step" | "report"> & Partial<Pick<Call, "step" | "report">>;

/** Reads the input and checks it, by the schema and by the handler's own rules. @throws Problem `invalid-input`. */
export async function readInput(service: Service, invocation: Pick<Invocation, "input">): Promise<unknown> {
  const { value: raw, from } = await invocation.input();
  const texts = from === "query" ? service.input.coerce(raw as Record<string, unknown>) : raw;
  const { value, issues } = service.input.check(texts, from);
  if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
  if (typeof service.handler === "object") checkByHandler(service.handler.check, value, from);
  return value;
}

/** A handler's own rules speak of the body; where the input came from a query, their faults stand there. */
function checkByHandler(check: (input: never) => void, value: unknown, from: "body" | "query"): void {
  try {
    check(value as never);
  } catch (error) {
    if (from === "body" || !(error instanceof Problem) || !error.options.issues) throw error;
    const issues = error.options.issues.map(({ loc, ...issue }) => ({ ...issue, loc: [from, ...loc.slice(1)] }));
    throw new Problem(error.code, error.message, { ...error.options, issues });
  }
}

/**
 * Runs the handler under the service's deadline and holds it to its own output schema.
 * @throws Problem `deadline-exceeded`, `unavailable` when the caller is gone, `internal` when the output is wrong.
 */
export async function perform(service: Work, input: unknown, call: CallFacts): Promise<unknown> {
  const output = await underDeadline(service, call, (signal) =>
    (runOf(service) as Run<unknown, unknown>)(input, { ...IN_A_REQUEST, ...call, signal }),
  );
  const { value, issues } = service.output.check(output, "body");
  if (issues.length === 0) return value;
  const fault = new Error(`${service.manifest.handler} broke its output schema: ${JSON.stringify(issues.slice(0, 5))}`);
  throw new Problem("internal", undefined, { cause: fault });
}

/** In a request, steps are simply done, and nobody polls. */
const IN_A_REQUEST: Pick<Call, "step" | "report"> = { step: (_name, work) => work(), report: () => {} };

const runOf = ({ handler }: Work): Run<never, unknown> => (typeof handler === "object" ? handler.run : handler);

async function underDeadline<T>(
  service: Work,
  call: CallFacts,
  run: (signal: AbortSignal) => T | Promise<T>,
): Promise<T> {
  if (call.signal.aborted) throw gone();
  const controller = new AbortController();
  let stop: (problem: Problem) => void = () => {};
  const stopped = new Promise<never>((_resolve, reject) => {
    stop = (problem) => {
      controller.abort(problem);
      reject(problem);
    };
  });
  stopped.catch(() => {}); // Observed by the race below, or not at all when the handler was quicker.
  const seconds = service.deadlineMs / 1000;
  const late = (): void =>
    stop(new Problem("deadline-exceeded", `The service did not answer within ${seconds} seconds`));
  const leave = (): void => stop(gone());
  const timer = setTimeout(late, service.deadlineMs);
  call.signal.addEventListener("abort", leave, { once: true });
  try {
    return await Promise.race([stopped, run(controller.signal)]);
  } finally {
    clearTimeout(timer);
    call.signal.removeEventListener("abort", leave);
  }
}

const gone = (): Problem => new Problem("unavailable", "The caller is gone");
