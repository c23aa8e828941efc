import type { Call, Run } from "../api/plugin.ts";
import { Problem, toValueError, type ValidationIssue } from "../api/problem.ts";
import type { GivenInput, Invocation } from "./call.ts";
import { findRounded, isObject } from "./json.ts";
import { explainFile, type MediaOutput } from "./proxy/media.ts";
import { isShown, toIssueText } from "./schema/issues.ts";
import type { Service } from "./service.ts";
import { handlerOf } from "./set/manifest.ts";

/** Runs the work of a call so that its cache reads are counted for that call. */
export const onBehalf = <T>({ around }: Pick<Invocation, "around">, work: () => Promise<T>): Promise<T> =>
  around ? around(work) : work();

/** The parts of a service that running its handler needs. */
export type Runnable = Pick<Service, "manifest" | "handler" | "output" | "deadlineMs">;

/** A call of a service that is known. Its `step` and `report` may be omitted: only jobs have their own. */
export type PartialCall = Omit<Call, "service" | "step" | "report"> & Partial<Pick<Call, "step" | "report">>;

/** Reads the input and checks it. @throws Problem `invalid-input` with all faults. */
export const readValidInput = async (service: Service, { input }: Pick<Invocation, "input">): Promise<unknown> =>
  toValidInput(service, await input());

/** Checks an input by the schema and by the handler's own rules. @throws Problem `invalid-input` with all faults. */
export function toValidInput(service: Service, given: GivenInput): unknown {
  const { value: raw, from, inPath = [] } = given;
  const texts = from === "query" ? service.input.coerce(raw as Record<string, unknown>) : raw;
  const { value, issues } = service.input.check(texts, from, useOf(service));
  const inexact = issues.length === 0 && service.manifest.proxy ? roundedIn({ ...given, value: texts }, value) : [];
  const all = [...issues, ...inexact, ...checkByHandler(service, value, issues)];
  if (all.length === 0) return value;
  const placed = all.map(({ loc: [, ...field], ...issue }) => {
    return { ...issue, loc: [inPath.includes(String(field[0])) ? "path" : from, ...field] };
  });
  throw new Problem("invalid-input", undefined, { issues: placed });
}

/** A proxied service passes its input on. */
const useOf = ({ manifest }: Service): "passed" | "input" => (manifest.proxy ? "passed" : "input");

/** The fault of an integer that JavaScript has rounded: the upstream would be asked about another one. */
function roundedIn({ value: given, json = () => "" }: GivenInput, value: unknown): ValidationIssue[] {
  const place = findRounded(given, json, (name) => isObject(value) && Object.hasOwn(value, name));
  return place ? [{ ...toValueError(INEXACT), loc: ["body", ...place] }] : [];
}

export const INEXACT =
  "an integer of more than 53 bits is not exact, and might name something else: send it as text, if the service takes one";

/**
 * Does work that was paid for, perhaps under an earlier manifest: the service may have become a job since, or ceased to be one.
 * @throws Problem as `perform`; `invalid-input` when the current schema would take the input for another one.
 */
export async function performKept(service: Service, kept: unknown, call: PartialCall): Promise<unknown> {
  const taken = takeKept(service, kept);
  if (!taken) throw new Problem("invalid-input", OTHERWISE);
  const { manifest, handler, job } = service;
  const { deliverable: output = service.output, deadlineMs = service.deadlineMs } = job ?? {};
  return perform({ manifest, handler, output, deadlineMs }, taken.value, call);
}

/**
 * A stored input, checked by the service's current schema; undefined when that refuses it or would drop a part of it.
 */
export function takeKept(service: Service, kept: unknown): { readonly value: unknown } | undefined {
  const { value, issues } = service.input.check(kept, "body", useOf(service));
  return issues.length === 0 && isWithin(kept, value) ? { value } : undefined;
}

/** Why a stored input is refused. */
export const OTHERWISE = "The service has changed since this was paid for, and no longer takes such an input";

/** Whether a value is part of another one: that one may have more fields, and defaults in place of `null`. */
function isWithin(part: unknown, whole: unknown): boolean {
  if (part === null) return true;
  if (typeof part !== "object") return part === whole;
  if (typeof whole !== "object" || whole === null) return false;
  return Object.entries(part).every(
    ([name, value]) =>
      Object.hasOwn(whole, name) && isWithin(value, (whole as Readonly<Record<string, unknown>>)[name]),
  );
}

/**
 * The faults that the handler's own rules find, apart from those of the schema. The rules run only when all values have
 * the right types.
 */
function checkByHandler(
  { handler }: Service,
  value: unknown,
  known: readonly ValidationIssue[],
): readonly ValidationIssue[] {
  if (typeof handler !== "object" || !handler.check || known.some(({ type }) => TYPE_FAULT.test(type))) return [];
  try {
    handler.check(value as never);
    return [];
  } catch (thrown) {
    const error = readThrown(thrown);
    const issues = error instanceof Problem ? error.options.issues : undefined;
    if (!issues && known.length === 0) throw error;
    const fields = known.map(({ loc }) => fieldOf(loc));
    return (issues ?? []).filter(({ loc }) => !fields.includes(fieldOf(loc)));
  }
}

/** Faults after which a value may not be of the type that the handler expects. */
const TYPE_FAULT = /^missing$|^(?:int|float|bool)_parsing$|_type$|_from_float$|^none_required$|^finite_number$/;

const fieldOf = ([, ...field]: ValidationIssue["loc"]): string => JSON.stringify(field);

/**
 * Asks the handler, before anybody is charged, whether its work can be done now. Bounded by the service's deadline.
 * @throws Problem `unavailable`, `deadline-exceeded`.
 */
export async function askReady(service: Runnable, input: unknown, signal: AbortSignal): Promise<void> {
  const { handler } = service;
  if (typeof handler !== "object" || !handler.ready) return;
  await underDeadline(service, { signal }, async (bounded) =>
    handler.ready?.(structuredClone(input) as never, bounded),
  );
}

/**
 * Runs the handler under the service's deadline and checks its output.
 * @throws Problem `deadline-exceeded`, `unavailable` when the caller has disconnected, `internal` when the output
 * breaks its schema.
 */
export async function perform(service: Runnable, input: unknown, call: PartialCall): Promise<unknown> {
  const run = runOf(service) as Run<unknown, unknown>;
  const own = structuredClone(input); // A handler may change its input; the stored one must stay as it was bought.
  const { id } = service.manifest;
  const output = await underDeadline(service, call, async (signal) =>
    run(own, { ...IN_A_REQUEST, ...call, service: id, signal }),
  );
  const { value, issues } = service.output.check(output, "body");
  const fault = issues.length > 0 ? `schema: ${toIssueText(issues)}` : faultOfFile(service, value);
  if (fault === undefined) return value;
  const cause = new Error(`the output of ${handlerOf(service.manifest)} breaks its ${fault}`);
  throw new Problem("internal", undefined, { cause });
}

/** In a request, a step just runs and progress is not reported. */
const IN_A_REQUEST: Pick<Call, "step" | "report"> = { step: (_name, work) => work(), report: () => {} };

const runOf = ({ handler }: Runnable): Run<never, unknown> => (typeof handler === "object" ? handler.run : handler);

/** On the deadline or when the caller disconnects, the handler's signal is aborted and its result is dropped. */
function underDeadline<T>(
  { deadlineMs }: Runnable,
  { signal: caller }: Pick<PartialCall, "signal">,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  if (caller.aborted) return Promise.reject(gone());
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const controller = new AbortController();
  const stop = (why: Problem): void => {
    controller.abort(why);
    reject(why);
  };
  const leave = (): void => stop(gone());
  const timer = setTimeout(() => stop(late(deadlineMs)), deadlineMs);
  caller.addEventListener("abort", leave, { once: true });
  run(controller.signal).then(resolve, (thrown: unknown) => reject(readThrown(thrown)));
  return promise.finally(() => {
    clearTimeout(timer);
    caller.removeEventListener("abort", leave);
  });
}

/** A proxied service has checked its file already. */
function faultOfFile({ manifest: { media, proxy } }: Runnable, file: unknown): string | undefined {
  const complaint = media && !proxy ? explainFile(media, file as MediaOutput) : undefined;
  return complaint && `type: ${complaint}`;
}

/** What a handler has thrown, which may be anything, in a form that can be answered and logged. */
function readThrown(thrown: unknown): unknown {
  try {
    if (thrown instanceof Problem) return toAnswerable(thrown);
    if (typeof thrown === "object" && thrown !== null) return thrown;
    return new Error(`the handler has thrown ${String(thrown)}`);
  } catch (cause) {
    return new Problem("internal", undefined, { cause });
  }
}

/** Leaves out inputs that are too long to be shown. @throws when the problem cannot be written as JSON. */
function toAnswerable(problem: Problem): Problem {
  const { code, message, options } = problem;
  const issues = options.issues?.map(({ input, ...issue }) => (isShown(input) ? { ...issue, input } : issue));
  const told = issues ? new Problem(code, message, { ...options, issues }) : problem;
  JSON.stringify(told);
  return told;
}

const late = (deadlineMs: number): Problem =>
  new Problem("deadline-exceeded", `The service did not answer within ${deadlineMs / 1000} seconds`);

/** The Problem of a call that nobody waits for any more. */
export const gone = (): Problem => new Problem("unavailable", "The caller is gone");
