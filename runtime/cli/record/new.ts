import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Cache, Call, HandlerParts } from "../../api/plugin.ts";
import { Problem } from "../../api/problem.ts";
import { handlerOf, type Manifest } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import { createGuardedFetch } from "../../drivers/http/guarded-fetch.ts";
import { createProxyHandlers } from "../../drivers/proxy/handlers.ts";
import { createHttpTransport } from "../../drivers/upstream/transport.ts";
import { createUpstream } from "../../drivers/upstream/upstream.ts";
import { loadRecordings, type RecordedExchange } from "../../sandbox/recordings/recordings.ts";
import { locate } from "../serve/locate.ts";
import { toFaultProblem } from "../set/check.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";
import { createNoting } from "./capture.ts";
import { writeRecording } from "./files.ts";
import type { RecordOptions, RecordRun } from "./record.ts";

export interface NewRecordOptions extends Omit<RecordOptions, "check"> {
  /** The ids of the services whose examples are asked; all unless given. */
  readonly services?: ReadonlySet<string>;
}

const PATIENCE_MS = 120_000;

/**
 * Asks the upstreams of services without code what their examples ask, where no recording answers yet, and writes the
 * answers to `recordings/<upstream>/<service>.json`. What was recorded before stays as it is.
 * @throws Problem `bad-request` for a set with faults.
 */
export async function recordNew({ dir, ids, env, services }: NewRecordOptions): Promise<RecordRun> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw toFaultProblem(set.faults);
  const http = createHttpTransport();
  const web = createGuardedFetch();
  const places = (set.site.upstreams ?? []).map((manifest) => ({ manifest, ...locate(manifest, env) }));
  const noting = createNoting({ recordings: loadRecordings(set.dir), places, live: http.send });
  const clock = { now: Date.now };
  const upstreams = places.map(({ manifest: { id, title, variable }, url, headers, query }) => {
    const terms = { timeoutMs: 60_000, retries: 1, transport: noting.send, clock, log: silentLog };
    return [id, createUpstream({ id, title, url, variable, headers, query, ...terms })] as const;
  });
  const { manifests, compile } = set;
  const terms = { manifests, upstreams: new Map(upstreams), web, cacheOf: () => NO_CACHE, compile, clock };
  const handlers = createProxyHandlers(terms);
  const lines: string[] = [];
  try {
    const wanted = manifests.filter(({ id, proxy }) => isWanted(proxy?.upstream, ids) && (services?.has(id) ?? true));
    for (const manifest of wanted) {
      const handler = handlers.get(handlerOf(manifest)) as HandlerParts<never, unknown>;
      for (const [at, example] of manifest.examples.entries()) {
        const complaint = await tryExample(handler, compile(manifest.input).check(example.input, "body").value);
        if (complaint === undefined) noting.keep();
        else lines.push(`example ${at + 1} of ${manifest.id}: not recorded: ${complaint}`);
        noting.forget();
      }
      lines.push(...(await write(set, manifest, noting.take())));
    }
  } finally {
    await Promise.all([http.close(), web.close()]);
  }
  const hasFailed = lines.some((line) => line.includes(": not recorded: "));
  return { report: lines.join("\n") || "every example of a service without code is recorded already", hasFailed };
}

const isWanted = (upstream: string | undefined, ids: readonly string[]): boolean =>
  upstream !== undefined && (ids.length === 0 || ids.includes(upstream));

/** Why an example did not come true; undefined when it did. */
async function tryExample(handler: HandlerParts<never, unknown>, input: unknown): Promise<string | undefined> {
  const signal = AbortSignal.timeout(PATIENCE_MS);
  const call: Call = {
    id: "record",
    signal,
    payer: undefined,
    network: undefined,
    step: (_, work) => work(),
    report() {},
  };
  try {
    await handler.run(input as never, call); // By the service's input schema.
    return undefined;
  } catch (error) {
    const { message, options } = Problem.from(error);
    return options.cause instanceof Error ? `${message} (${options.cause.message})` : message;
  }
}

/** Writes a new file, or adds to the one that is there. */
async function write(
  { dir }: ManifestSet,
  { id, proxy }: Manifest,
  noted: readonly RecordedExchange[],
): Promise<readonly string[]> {
  if (noted.length === 0) return [];
  const file = `recordings/${proxy?.upstream}/${id}.json`;
  const there = loadRecordings(dir).find((recording) => recording.file === file);
  const exchanges = [...(there?.exchanges ?? []), ...noted];
  const source = there?.source ?? `Recorded with the examples of ${id}.`;
  await mkdir(dirname(join(dir, file)), { recursive: true });
  const old = { file, upstream: proxy?.upstream ?? "", source, exchanges: there?.exchanges ?? [] };
  const written = await writeRecording(dir, old, exchanges);
  return written.map((one) => `${one} written`);
}

/** Nothing is kept: each example asks. */
const NO_CACHE: Cache = {
  get: async () => undefined,
  set: async () => {},
  remember: async (_key, { signal }, produce) => ({ value: await produce(signal), storedAt: Date.now() }),
};
