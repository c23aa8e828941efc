import { Problem } from "../../api/problem.ts";
import { isObject } from "../../core/json.ts";
import type { Manifest, UpstreamManifest } from "../../core/set/manifest.ts";
import { createHttpTransport } from "../../drivers/upstream/transport.ts";
import { loadRecordings } from "../../sandbox/recordings/recordings.ts";
import { toRecordedFetch } from "../../sandbox/recordings/transport.ts";
import { readConfig } from "../config/config.ts";
import { createNoting } from "../record/capture.ts";
import { complaintOf } from "../record/complaint.ts";
import { keepNew } from "../record/keep.ts";
import { recordNew, type Trial, toInputsOfExamples } from "../record/new.ts";
import { type RecordOptions, type RecordRun, toLeakCheck } from "../record/record.ts";
import { toUnasked } from "../record/report.ts";
import { LLM } from "../sandbox/sources.ts";
import { locate } from "../serve/locate.ts";
import { toFaultProblem } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { callService } from "./examples.ts";
import { openWorld } from "./world.ts";

export interface MissingOptions extends Pick<RecordOptions, "dir" | "env"> {
  /**
   * Ids of upstreams; or the id of one service, optionally followed by an input as JSON; when empty, all services
   * without code.
   */
  readonly ids: readonly string[];
}

/**
 * Records what has no recording yet: the requests of the examples of services without code (`recordNew`), or the
 * requests of one service, with or without code, for its examples or for one input.
 * @throws Problem `bad-request` for a set with faults, for an id that is neither a service nor an upstream, and for an
 *   input that is not JSON.
 */
export async function recordMissing({ dir, ids, env }: MissingOptions): Promise<RecordRun> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw toFaultProblem(set.faults);
  const [first, text, ...more] = ids;
  const service = set.manifests.find(({ id }) => id === first);
  const sources = set.site.upstreams ?? [];
  if (service && more.length === 0) {
    if (service.hints?.destructive === true) return { report: toUnasked(service), hasFailed: false };
    const inputs = toInputs(service, text);
    // The calls of a tool are no requests that a world of recordings could note.
    const isTool = sources.some(({ id, mcp }) => mcp === "http" && id === service.proxy?.mcp);
    if (isTool) return recordNew({ dir, ids: [], env, services: new Set([service.id]), inputs });
    return recordService(set, { manifest: service, inputs }, env);
  }
  const known = sources.map(({ id }) => id);
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return recordNew({ dir, ids, env });
  const right = `"payphone record --new <service> '<input>'" records one input`;
  throw new Problem("bad-request", `"${unknown}" is no service and no upstream; ${right}`);
}

function toInputs(manifest: Manifest, text: string | undefined): Trial["inputs"] {
  if (text === undefined) return toInputsOfExamples(manifest);
  try {
    return [{ name: "this input", input: JSON.parse(text) as unknown }];
  } catch {
    throw new Problem("bad-request", `The input is no JSON: ${text}`);
  }
}

/** Runs one service on its inputs, and writes the requests of successful runs to the recordings of each upstream. */
async function recordService(
  set: ManifestSet,
  { manifest, inputs }: Trial,
  env: RecordOptions["env"],
): Promise<RecordRun> {
  await using opened = new AsyncDisposableStack();
  const http = opened.adopt(createHttpTransport(), ({ close }) => close());
  const model = locateModel(env);
  const upstreams = (set.site.upstreams ?? []).map((upstream) => ({ manifest: upstream, ...locate(upstream, env) }));
  const places = model ? [...upstreams, model.place] : upstreams;
  const noting = createNoting({ recordings: loadRecordings(set.dir), places, live: http.send, toKept });
  const sources = {
    locate: (upstream: UpstreamManifest) => locate(upstream, env),
    wrap: () => noting.send,
    ...(model && { llm: { endpoint: model.endpoint, fetch: toRecordedFetch(LLM, noting.send) } }),
  };
  const world = await openWorld({ set, env, aheadMs: 0, baseUrl: BASE_URL, sources });
  opened.defer(() => world.close());
  const lines: string[] = [];
  for (const { name, input } of inputs) {
    noting.forget();
    const complaint = await complaintOf(() => callService(world, manifest.id, input));
    if (complaint === undefined) noting.keep();
    else lines.push(`${name} of ${manifest.id}: not recorded: ${complaint}`);
  }
  const repeatsCredential = toLeakCheck(places);
  for (const [upstream, noted] of noting.take())
    lines.push(...(await keepNew(set.dir, manifest, { upstream, noted, repeatsCredential })));
  const hasFailed = lines.some((line) => line.includes(": not recorded: "));
  return { report: lines.join("\n") || "everything that it asks is recorded already", hasFailed };
}

/** The language model of the environment, as an upstream. */
function locateModel(env: RecordOptions["env"]) {
  const { llm: endpoint } = readConfig(Object.fromEntries(Object.entries(env).filter(([name]) => /^LLM_/.test(name))));
  if (!endpoint) return undefined;
  const { baseUrl: url, apiKey } = endpoint;
  const headers = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  return { endpoint, place: { manifest: { id: LLM, title: "The language model" }, url, headers } };
}

/**
 * The part of a body by which its recording is found. Of a question to the language model, that is the data and the service
 * that asks: the recording fits any model and later instructions, and the answer to a correction replaces the unusable one.
 */
function toKept(upstream: string, body: unknown): unknown {
  if (upstream !== LLM || !isObject(body) || !Array.isArray(body.messages)) return body;
  const { response_format: format, messages } = body;
  const json_schema = isObject(format) && isObject(format.json_schema) && { name: format.json_schema.name };
  return { messages: messages.filter(isData).slice(0, 1), ...(json_schema && { response_format: { json_schema } }) };
}

const isData = (message: unknown): boolean => isObject(message) && message.role === "user";

const BASE_URL = "http://127.0.0.1:4021";
