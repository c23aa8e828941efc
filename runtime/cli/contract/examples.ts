import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { Call } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import { createSteps } from "../../core/jobs/steps.ts";
import { askReady, perform, readValidInput } from "../../core/perform.ts";
import { isJobService, type Service } from "../../core/service.ts";
import type { Manifest } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import { findDifferences, toComplaint } from "./differences.ts";
import type { ContractExample } from "./example.ts";
import type { World } from "./world.ts";

export type CallService = (service: string, input: unknown) => Promise<unknown>;

/**
 * The examples of a set, in the manifests' order. Services that need a sign-in are omitted, because their answers
 * depend on what the wallet has done before.
 */
export const listExamples = (manifests: readonly Manifest[]): readonly ContractExample[] =>
  manifests
    .filter(({ sign_in }) => !sign_in)
    .flatMap(({ id, examples = [] }) =>
      examples.map(({ input, output }, at) => ({ title: `example ${at + 1} of ${id}`, service: id, input, output })),
    );

const PAYER = "0x00000000000000000000000000000000000000A1";

/**
 * Calls a service as the server does: checks the input, runs the handler under its deadline, and checks the output. For
 * a job, returns the deliverable.
 * @throws Problem `invalid-input`, `not-found`, whatever the handler throws; `internal` when the output breaks its
 *   schema.
 */
export async function callService({ services }: World, id: string, input: unknown): Promise<unknown> {
  const service = services.find(({ manifest }) => manifest.id === id);
  if (!service) throw new Problem("not-found", `There is no service "${id}" in manifests/`);
  const value = await readValidInput(service, { input: async () => ({ value: input, from: "body" }) });
  const { manifest } = service;
  const network = "eip155:8453";
  const call = {
    id: randomUUID(),
    signal: new AbortController().signal,
    payer: manifest.price === undefined ? undefined : PAYER,
    network: manifest.price === undefined ? undefined : network,
    ...(manifest.sign_in && { accounts: [`${network}:${PAYER}`] }),
    ...((manifest.charge === "first" || manifest.job) && lendSteps()),
  };
  await askReady(service, value, call.signal);
  return perform(toRunnable(service), value, call);
}

/** The steps of a call whose work is paid first: the server would keep their results. Here nothing is resumed. */
function lendSteps(): Pick<Call, "step" | "report"> {
  const records = {
    note: async () => {},
    readStep: async () => undefined,
    keepStep: async (_id: string, _name: string, value: unknown) => value,
  };
  return createSteps("", { records, log: silentLog, graceMs: 0 }).lent;
}

/** A job's handler returns the deliverable. */
const toRunnable = (service: Service): Pick<Service, "manifest" | "handler" | "output" | "deadlineMs"> =>
  isJobService(service) ? { ...service, output: service.job.deliverable, deadlineMs: service.job.deadlineMs } : service;

/** How often an example is repeated before a difference counts as a fault instead of a random value. */
const REPEATS = 30;
/** A little more than a second, because outputs give times in seconds. */
const A_SECOND_MS = 1100;

/**
 * Runs an example. When its manifest shows an output, each part must be equal, except for varying parts: those that
 * differ between several runs with other keys and at other times.
 * @param worlds call services in the first world, and in one with other keys and another time.
 * @throws Error with a sentence for each part that differs; whatever the call throws.
 */
export async function runExample(
  { service, input, output }: ContractExample,
  worlds: { readonly here: CallService; readonly elsewhere: CallService },
): Promise<void> {
  const found = toJson(await worlds.here(service, input));
  let differences = output === undefined ? [] : findDifferences(output, found);
  const dropVarying = (again: unknown): void => {
    const varying = new Set(findDifferences(found, toJson(again)).map(({ place }) => place));
    differences = differences.filter(({ place }) => !isBelow(place, varying));
  };
  if (differences.length > 0) dropVarying(await worlds.elsewhere(service, input).catch(() => found));
  if (differences.length > 0) await sleep(A_SECOND_MS);
  for (let run = 0; differences.length > 0 && run < REPEATS; run++) dropVarying(await worlds.here(service, input));
  if (differences.length > 0) throw new Error(differences.map(toComplaint).join("\n"));
}

/** Whether a place is a varying one, contains one, or is within one. */
const isBelow = (place: string, varying: ReadonlySet<string>): boolean =>
  [...varying].some((other) => other === place || isPart(place, other) || isPart(other, place));

const isPart = (part: string, whole: string): boolean =>
  whole === "" || (part.startsWith(whole) && /^[.[]/.test(part.slice(whole.length)));

/** The value after serialization, as buyers get it. */
const toJson = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
