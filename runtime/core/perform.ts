import type { Call, Run } from "../api/plugin.ts";
import { Problem } from "../api/problem.ts";
import type { Invocation } from "./call.ts";
import { untilAborted } from "./deadline.ts";
import type { Service } from "./service.ts";

/** The parts of a service that running its handler needs. */
export type Runnable = Pick<Service, "manifest" | "handler" | "output" | "deadlineMs">;

/** A call without defaults: only jobs bring `step` and `report` of their own. */
export type PartialCall = Omit<Call, "step" | "report"> & Partial<Pick<Call, "step" | "report">>;

/** Reads the input and checks it by the schema and the handler's own rules. @throws Problem `invalid-input`. */
export async function readValidInput(service: Service, invocation: Pick<Invocation, "input">): Promise<unknown> {
  const { value: raw, from } = await invocation.input();
  const texts = from === "query" ? service.input.coerce(raw as Record<string, unknown>) : raw;
  const { value, issues } = service.input.check(texts, from);
  if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
  if (typeof service.handler === "object" && service.handler.check) checkByHandler(service.handler.check, value, from);
  return value;
}

/** Handlers report faults at `body`; where the input came from a query, they are moved to `query`. */
function checkByHandler(check: (input: never) => void, value: unknown, from: "body" | "query"): void {
  try {
    check(value as never);
  } catch (error) {
    if (from === "body" || !(error instanceof Problem) || !error.options.issues) throw error;
    const issues = error.options.issues.map(({ loc, ...issue }) => ({ ...issue, loc: [from, ...loc.slice(1)] }));
    throw new Problem(error.code, error.message, { ...error.options, issues });
  }
}

/** Asks the handler whether its work can be done now, before anybody is charged. @throws Problem `unavailable`. */
export async function prepare({ handler }: Runnable, input: unknown, signal: AbortSignal): Promise<void> {
  if (typeof handler === "object") await handler.ready?.(input as never, signal);
}

/**
 * Runs the handler under the service's deadline and checks its output.
 * @throws Problem `deadline-exceeded`, `unavailable` when the caller is gone, `internal` when the output breaks its
 * schema.
 */
export async function perform(service: Runnable, input: unknown, call: PartialCall): Promise<unknown> {
  const run = runOf(service) as Run<unknown, unknown>;
  const output = await underDeadline(service, call, async (signal) => run(input, { ...IN_A_REQUEST, ...call, signal }));
  const { value, issues } = service.output.check(output, "body");
  if (issues.length === 0) return value;
  const fault = new Error(`${service.manifest.handler} broke its output schema: ${JSON.stringify(issues.slice(0, 5))}`);
  throw new Problem("internal", undefined, { cause: fault });
}

/** In a request a step just runs, and there is no progress to report. */
const IN_A_REQUEST: Pick<Call, "step" | "report"> = { step: (_name, work) => work(), report: () => {} };

const runOf = ({ handler }: Runnable): Run<never, unknown> => (typeof handler === "object" ? handler.run : handler);

/** Runs until the deadline or until the caller is gone; then the handler's signal is aborted and its result dropped. */
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
