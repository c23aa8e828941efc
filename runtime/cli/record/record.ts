import { basename } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { Problem } from "../../api/problem.ts";
import type { Manifest, UpstreamManifest } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import { termsOf } from "../../drivers/proxy/ask.ts";
import { createLeakCheck, type RepeatsCredential } from "../../drivers/upstream/leaks.ts";
import { createHttpTransport, type Transport } from "../../drivers/upstream/transport.ts";
import { createUpstream, type LiveUpstream } from "../../drivers/upstream/upstream.ts";
import {
  isAnswering,
  loadRecordings,
  type RecordedExchange,
  type Recording,
} from "../../sandbox/recordings/recordings.ts";
import type { Env } from "../config/reader.ts";
import { type Located, locate } from "../serve/locate.ts";
import { toFaultProblem } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { type Comparison, recordExchange } from "./exchange.ts";
import { writeRecording } from "./files.ts";
import { type Renewal, toRecordReport, verdictsOf } from "./report.ts";

export interface RecordOptions {
  readonly dir: string;
  /** Ids of upstreams; when empty, all that have recordings. */
  readonly ids: readonly string[];
  /** Whether to compare only and write nothing. */
  readonly check: boolean;
  /** The variables with the URLs and credentials of upstreams. */
  readonly env: Env;
}

export interface RecordRun {
  readonly report: string;
  /** Whether the shape of an answer changed, or nothing could be recorded. */
  readonly hasFailed: boolean;
}

/**
 * Repeats the recorded requests (cases `success` and `empty`) against the live upstreams, reports whether the answers
 * have the same shape, and writes the new ones. A failure of one exchange does not stop the others. Services that `hints`
 * call destructive are not asked.
 * @throws Problem `bad-request` for a set with faults, and for an id that is not an upstream with recordings.
 */
export async function runRecord({ dir, ids, check, env }: RecordOptions): Promise<RecordRun> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw toFaultProblem(set.faults);
  const upstreams = set.site.upstreams ?? [];
  const isServer = (id: string): boolean => upstreams.some((one) => one.id === id && one.mcp !== undefined);
  // Tool calls of MCP servers are recorded anew instead.
  const all = loadRecordings(set.dir).filter(({ upstream }) => !isServer(upstream));
  const unasked = set.manifests.filter(({ id, hints }) => hints?.destructive && all.some((one) => isOf(one, id)));
  const recordings = Map.groupBy(all, ({ upstream }) => upstream);
  const places = upstreams.map((manifest) => ({ manifest, ...locate(manifest, env) }));
  const listed = places.map(({ manifest }) => manifest.id).filter((id) => recordings.has(id));
  const wanted = choose(listed, ids);
  const repeatsCredential = toLeakCheck(places);
  const http = createHttpTransport();
  try {
    const work = places
      .filter(({ manifest }) => wanted.includes(manifest.id))
      .map((place) =>
        recordAll(toAskable(unasked, recordings.get(place.manifest.id)), openUpstream(place, http.send), {
          repeatsCredential,
          manifests: set.manifests,
        }),
      );
    const renewals = (await Promise.all(work)).flat();
    const written = check ? [] : await writeAll(set.dir, renewals);
    const unlisted = [...recordings.keys()].filter((id) => !listed.includes(id));
    return { report: toRecordReport(renewals, { written, unlisted, unasked }), hasFailed: hasFailed(renewals) };
  } finally {
    await http.close();
  }
}

function choose(known: readonly string[], ids: readonly string[]): readonly string[] {
  const unknown = ids.find((id) => !known.includes(id));
  if (unknown === undefined) return ids.length > 0 ? ids : known;
  const others = known.length > 0 ? `; there are ${known.join(", ")}` : "";
  throw new Problem("bad-request", `"${unknown}" is no upstream of _site.yaml that has recordings${others}`);
}

/** An upstream of the site, with its URL and credential. */
interface Place extends Located {
  readonly manifest: UpstreamManifest;
}

function openUpstream(
  { manifest: { id, title, variable }, url, headers, query }: Place,
  transport: Transport,
): LiveUpstream {
  const terms = { ...PATIENT, transport, clock: { now: Date.now }, log: silentLog };
  return createUpstream({ id, title, url, variable, headers, query, ...terms });
}

/** Generous limits, because no caller waits for these answers. */
const PATIENT = { timeoutMs: 60_000, retries: 2 };
/** Shorter texts may occur in an answer by chance. */
const SHORTEST_SECRET = 12;

/** Finds the credentials of upstreams, in whatever form, and the parts of an operator's own URLs that may be credentials. */
export function toLeakCheck(places: readonly Place[]): RepeatsCredential {
  const checks = places.map((place) => createLeakCheck(place, toSecrets(place)));
  return (answer) => checks.some((repeatsCredential) => repeatsCredential(answer));
}

/** The credentials of an upstream that are not in headers. */
function toSecrets({ manifest, url, query = {} }: Place): readonly string[] {
  const keys = Object.values(query);
  if (url === undefined || url === manifest.url) return keys;
  const { username, password, pathname, searchParams } = new URL(url);
  const parts = [username, password, ...pathname.split("/"), ...searchParams.values()];
  return [...keys, ...parts.filter((part) => part.length >= SHORTEST_SECRET)];
}

/** Sends the requests to one upstream one after the other, to stay below its rate limit. */
async function recordAll(
  recordings: readonly Recording[],
  upstream: LiveUpstream,
  {
    repeatsCredential,
    manifests,
  }: { readonly repeatsCredential: RepeatsCredential; readonly manifests: readonly Manifest[] },
): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (const recording of recordings) {
    const comparisons = new Map<RecordedExchange, Comparison>();
    const terms = { repeatsCredential, headers: headersOf(recording, manifests) };
    for (const exchange of toAsked(recording))
      comparisons.set(exchange, await recordExchange(exchange, upstream, terms));
    renewals.push({ recording, comparisons });
  }
  return renewals;
}

/** The constant headers of the service without code that a recording is named after. */
function headersOf(recording: Recording, manifests: readonly Manifest[]): Readonly<Record<string, string>> {
  const manifest = manifests.find(({ id, proxy }) => proxy?.upstream !== undefined && isOf(recording, id));
  if (!manifest) return {};
  const own = Object.entries(manifest.proxy?.headers ?? {}).map(([name, text]) => [name.toLowerCase(), text] as const);
  const constant = own.filter(([name, text]) => !text.includes("{") && name !== "content-type");
  return { accept: termsOf(manifest).accept, ...Object.fromEntries(constant) };
}

/** Whether a recording is named after this service. */
const isOf = ({ file }: Recording, id: string): boolean => id === basename(file, ".json");

const toAskable = (unasked: readonly Manifest[], recordings: readonly Recording[] = []): readonly Recording[] =>
  recordings.filter((recording) => !unasked.some(({ id }) => isOf(recording, id)));

/**
 * The exchanges to repeat: the first one for each request. Further answers to the same request were written by hand.
 */
const toAsked = ({ exchanges }: Recording): RecordedExchange[] =>
  exchanges
    .filter(isAnswering)
    .filter(({ request }, at, all) => all.findIndex((other) => isDeepStrictEqual(other.request, request)) === at);

async function writeAll(dir: string, renewals: readonly Renewal[]): Promise<readonly string[]> {
  const written = renewals.map(({ recording, comparisons }) => {
    const exchanges = recording.exchanges.map((exchange) => comparisons.get(exchange)?.renewed ?? exchange);
    return writeRecording(dir, recording, exchanges);
  });
  return (await Promise.all(written)).flat();
}

function hasFailed(renewals: readonly Renewal[]): boolean {
  const verdicts = verdictsOf(renewals);
  return verdicts.includes("changed") || (verdicts.length > 0 && verdicts.every((verdict) => verdict === "failed"));
}
