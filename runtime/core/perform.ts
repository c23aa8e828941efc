import type { Call, Run } from "../api/plugin.ts";
import { Problem } from "../api/problem.ts";
import type { Invocation } from "./call.ts";
import { untilAborted } from "./deadline.ts";
import type { Service } from "./service.ts";

/** What is run, and what its output must fit. */
export type Runnable = Pick<Service, "manifest" | "handler" | "output" | "deadlineMs">;

/** A call; one that is a job says how its steps are kept. */
export type PartialCall = Omit<Call, "step" | "report"> & Partial<Pick<Call, "step" | "report">>;

/** Reads the input and checks it, by the schema and by the handler's own rules. @throws Problem `invalid-input`. */
export async function readValidInput(service: Service, invocation: Pick<Invocation, "input">): Promise<unknown> {
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
export async function perform(service: Runnable, input: unknown, call: PartialCall): Promise<unknown> {
  const run = runOf(service) as Run<unknown, unknown>;
  const output = await underDeadline(service, call, async (signal) => run(input, { ...IN_A_REQUEST, ...call, signal }));
  const { value, issues } = service.output.check(output, "body");
  if (issues.length === 0) return value;
  const fault = new Error(`${service.manifest.handler} broke its output schema: ${JSON.stringify(issues.slice(0, 5))}`);
  throw new Problem("internal", undefined, { cause: fault });
}

/** In a request, steps are simply done, and nobody polls. */
const IN_A_REQUEST: Pick<Call, "step" | "report"> = { step: (_name, work) => work(), report: () => {} };

const runOf = ({ handler }: Runnable): Run<never, unknown> => (typeof handler === "object" ? handler.run : handler);

/** Aborts the handler's signal, and stops waiting for it, at the service's deadline or when the caller is gone. */
async function underDeadline<T>(
  { deadlineMs }: Runnable,
  { signal: caller }: PartialCall,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (caller.aborted) throw gone();
  const controller = new AbortController();
  const leave = (): void => controller.abort(gone());
  const timer = setTimeout(() => controller.abort(late(deadlineMs)), deadlineMs);
  caller.addEventListener("abort", leave, { once: true });
  try {
    return await untilAborted(run(controller.signal), controller.signal);
  } finally {
    clearTimeout(timer);
    caller.removeEventListener("abort", leave);
  }
}

const late = (deadlineMs: number): Problem =>
  new Problem("deadline-exceeded", `The service did not answer within ${deadlineMs / 1000} seconds`);

const gone = (): Problem => new Problem("unavailable", "The caller is gone");
