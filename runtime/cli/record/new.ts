import { randomUUID } from "node:crypto";
import type { Cache, Call, HandlerParts } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { handlerOf, type Manifest, sourceIdOf } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import { createGuardedFetch } from "../../drivers/http/guarded-fetch.ts";
import { createMcpHandlers } from "../../drivers/mcp/mcp-handlers.ts";
import { createProxyHandlers } from "../../drivers/proxy/handlers.ts";
import { createHttpTransport } from "../../drivers/upstream/transport.ts";
import { createUpstream } from "../../drivers/upstream/upstream.ts";
import { loadRecordings, type RecordedExchange } from "../../sandbox/recordings/recordings.ts";
import { locate } from "../serve/locate.ts";
import { toFaultProblem } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { createNoting } from "./capture.ts";
import { complaintOf } from "./complaint.ts";
import { keepNew } from "./keep.ts";
import { type RecordOptions, type RecordRun, toLeakCheck } from "./record.ts";
import { toUnasked } from "./report.ts";
import { openNotingServers } from "./tools.ts";

export interface NewRecordOptions extends Omit<RecordOptions, "check"> {
  /** The ids of the services whose examples are run; default: all. */
  readonly services?: ReadonlySet<string>;
  /** What is run in place of the examples. */
  readonly inputs?: readonly NamedInput[];
}

/** An input of a service, and how a report names it. */
export interface NamedInput {
  readonly name: string;
  readonly input: unknown;
}

/** The inputs to run a service on. */
export interface Trial {
  readonly manifest: Manifest;
  readonly inputs: readonly NamedInput[];
}

export const toInputsOfExamples = ({ examples }: Manifest): readonly NamedInput[] =>
  examples.map(({ input }, at) => ({ name: `example ${at + 1}`, input }));

const PATIENCE_MS = 120_000;

/**
 * Runs the examples of services without code, sends the requests that have no recording yet to their upstreams, and
 * writes the answers to `recordings/<upstream>/<service>.json`. Existing recordings stay unchanged.
 * @throws Problem `bad-request` for a set with faults.
 */
export async function recordNew({ dir, ids, env, services, inputs }: NewRecordOptions): Promise<RecordRun> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw toFaultProblem(set.faults);
  const sources = openSources(set, env);
  const lines: string[] = [];
  try {
    for (const manifest of set.manifests) {
      const isAsked = sources.handlers.has(handlerOf(manifest)) && isWanted(sourceIdOf(manifest), ids);
      if (isAsked && (services?.has(manifest.id) ?? true))
        lines.push(...(await recordInputs(set, { manifest, inputs: inputs ?? toInputsOfExamples(manifest) }, sources)));
    }
  } finally {
    await sources.close();
  }
  const hasFailed = lines.some((line) => line.includes(": not recorded: "));
  return { report: lines.join("\n") || "every example of a service without code is recorded already", hasFailed };
}

/** The services without code; requests without a recording go to their upstreams. */
function openSources(set: ManifestSet, env: NewRecordOptions["env"]) {
  const { manifests, compile } = set;
  const http = createHttpTransport();
  const web = createGuardedFetch();
  const places = (set.site.upstreams ?? []).map((manifest) => ({ manifest, ...locate(manifest, env) }));
  const recordings = loadRecordings(set.dir);
  const noting = createNoting({ recordings, places, live: http.send });
  const tools = openNotingServers({ set, env, recordings, log: silentLog });
  const clock = { now: Date.now };
  const upstreams = places.map(({ manifest: { id, title, variable }, url, headers, query }) => {
    const terms = { timeoutMs: 60_000, retries: 1, transport: noting.send, clock, log: silentLog };
    return [id, createUpstream({ id, title, url, variable, headers, query, ...terms })] as const;
  });
  const terms = { manifests, upstreams: new Map(upstreams), web, cacheOf: () => NO_CACHE, compile, clock };
  return {
    handlers: new Map([
      ...createProxyHandlers(terms),
      ...createMcpHandlers({ manifests, servers: tools.servers, compile }),
    ]),
    noting,
    tools,
    repeatsCredential: toLeakCheck(places),
    close: () => Promise.all([http.close(), web.close(), tools.close()]),
  };
}

/** Runs a service on inputs, and writes what is new. @returns lines of the report */
async function recordInputs(
  { dir, compile }: ManifestSet,
  { manifest, inputs }: Trial,
  { handlers, noting, tools, repeatsCredential }: ReturnType<typeof openSources>,
): Promise<readonly string[]> {
  if (manifest.hints?.destructive === true) return [toUnasked(manifest)];
  const made = handlers.get(handlerOf(manifest));
  const run = (typeof made === "function" ? made : made?.run) as HandlerParts<never, unknown>["run"];
  const lines: string[] = [];
  const kept: RecordedExchange[] = [];
  for (const { name, input } of inputs) {
    const complaint = await tryInput(run, manifest.id, compile(manifest.input).check(input, "body"));
    if (complaint === undefined) noting.keep();
    else lines.push(`${name} of ${manifest.id}: not recorded: ${complaint}`);
    const called = tools.take();
    if (complaint === undefined) kept.push(...called);
    noting.forget();
  }
  const noted = [...[...noting.take().values()].flat(), ...kept];
  const upstream = sourceIdOf(manifest) ?? "";
  return [...lines, ...(await keepNew(dir, manifest, { upstream, noted, repeatsCredential }))];
}

const isWanted = (upstream: string | undefined, ids: readonly string[]): boolean =>
  upstream !== undefined && (ids.length === 0 || ids.includes(upstream));

/** Why a run on a checked input failed; undefined when it succeeded. */
function tryInput(
  run: HandlerParts<never, unknown>["run"],
  service: string,
  { value, issues }: ReturnType<ReturnType<Compile>["check"]>,
): Promise<string | undefined> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const call: Call = {
    id: randomUUID(), // An API that knows `Idempotency-Key` would give the answer of another order with the same one.
    service,
    signal,
    payer: undefined,
    network: undefined,
    step: (_, work) => work(),
    report() {},
  };
  return complaintOf(() => {
    if (issues.length > 0) throw new Problem("invalid-input", undefined, { issues });
    return run(value as never, call);
  });
}

/** A cache that keeps nothing, so that each example sends its requests. */
const NO_CACHE: Cache = {
  get: async () => undefined,
  set: async () => {},
  remember: async (_key, { signal }, produce) => ({ value: await produce(signal), storedAt: Date.now() }),
};
