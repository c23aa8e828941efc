import { isDeepStrictEqual } from "node:util";
import type { Upstream } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import type { UpstreamManifest } from "../../core/set/manifest.ts";
import { silentLog } from "../../core/silent-log.ts";
import { createHttpTransport, type Transport } from "../../drivers/upstream/transport.ts";
import { createUpstream } from "../../drivers/upstream/upstream.ts";
import { type Exchange, isAnswering, loadRecordings, type Recording } from "../../sandbox/recordings/recordings.ts";
import type { Env } from "../config/reader.ts";
import { type Located, locate } from "../serve/sources.ts";
import { toReport as toFaultReport } from "../set/check.ts";
import { loadSet } from "../set/load.ts";
import { type Outcome, recordExchange } from "./exchange.ts";
import { writeRecording } from "./files.ts";
import { type Renewal, toReport, verdictsOf } from "./report.ts";

export interface RecordOptions {
  readonly dir: string;
  /** Upstreams; none means all that have recordings. */
  readonly ids: readonly string[];
  /** Compare, and write nothing. */
  readonly check: boolean;
  /** The variables that say where upstreams are, and hold their credentials. */
  readonly env: Env;
}

/** What came of it. */
export interface RecordRun {
  readonly report: string;
  /** A shape has changed, or nothing could be recorded. */
  readonly hasFailed: boolean;
}

/**
 * Asks the live upstreams again what recordings have asked on a good day, says whether the answers still have the same
 * shape, and writes the new ones. What fails for one exchange does not keep the others from being recorded.
 * @throws Problem `bad-request` for a set with faults, and for an id that is no upstream with recordings.
 */
export async function runRecord({ dir, ids, check, env }: RecordOptions): Promise<RecordRun> {
  const set = await loadSet(dir);
  if (set.faults.length > 0) throw new Problem("bad-request", toFaultReport(set.faults));
  const recordings = Map.groupBy(loadRecordings(set.dir), ({ upstream }) => upstream);
  const places = (set.site.upstreams ?? []).map((manifest) => ({ manifest, ...locate(manifest, env) }));
  const listed = places.map(({ manifest }) => manifest.id).filter((id) => recordings.has(id));
  const wanted = choose(listed, ids);
  const secrets = places.flatMap(toSecrets);
  const http = createHttpTransport();
  try {
    const work = places
      .filter(({ manifest }) => wanted.includes(manifest.id))
      .map((place) => recordAll(recordings.get(place.manifest.id) ?? [], openUpstream(place, http.send), secrets));
    const renewals = (await Promise.all(work)).flat();
    const written = check ? [] : await writeAll(set.dir, renewals);
    const unlisted = [...recordings.keys()].filter((id) => !listed.includes(id));
    return { report: toReport(renewals, { written, unlisted }), hasFailed: hasFailed(renewals) };
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

/** A source that the site lists, and where the environment says that it is. */
interface Place extends Located {
  readonly manifest: UpstreamManifest;
}

function openUpstream({ manifest: { id, title, variable }, url, headers }: Place, transport: Transport): Upstream {
  const terms = { ...PATIENT, transport, clock: { now: Date.now }, log: silentLog };
  return createUpstream({ id, title, url, variable, headers, ...terms });
}

/** Nobody waits for these answers. */
const PATIENT = { timeoutMs: 60_000, retries: 2 };
/** What is shorter may stand in an answer by chance. */
const SHORTEST_SECRET = 12;

/** The credentials of a source, and those parts of an operator's own URL that may be some. */
function toSecrets({ manifest, url, headers }: Place): readonly string[] {
  const keys = Object.values(headers);
  if (url === undefined || url === manifest.url) return keys;
  const { username, password, pathname, searchParams } = new URL(url);
  const parts = [username, password, ...pathname.split("/"), ...searchParams.values()];
  return [...keys, ...parts.filter((part) => part.length >= SHORTEST_SECRET)];
}

/** One after the other, so as not to annoy an upstream. */
async function recordAll(
  recordings: readonly Recording[],
  upstream: Upstream,
  secrets: readonly string[],
): Promise<Renewal[]> {
  const renewals: Renewal[] = [];
  for (const recording of recordings) {
    const outcomes = new Map<Exchange, Outcome>();
    for (const exchange of toAsked(recording))
      outcomes.set(exchange, await recordExchange(exchange, upstream, secrets));
    renewals.push({ recording, outcomes });
  }
  return renewals;
}

/** An upstream answers one request in one way: another answer to it was made up, and stays as it is. */
const toAsked = ({ exchanges }: Recording): Exchange[] =>
  exchanges
    .filter(isAnswering)
    .filter(({ request }, at, all) => all.findIndex((other) => isDeepStrictEqual(other.request, request)) === at);

async function writeAll(dir: string, renewals: readonly Renewal[]): Promise<readonly string[]> {
  const written = renewals.map(({ recording, outcomes }) => {
    const exchanges = recording.exchanges.map((exchange) => outcomes.get(exchange)?.renewed ?? exchange);
    return writeRecording(dir, recording, exchanges);
  });
  return (await Promise.all(written)).flat();
}

function hasFailed(renewals: readonly Renewal[]): boolean {
  const verdicts = verdictsOf(renewals);
  return verdicts.includes("changed") || (verdicts.length > 0 && verdicts.every((verdict) => verdict === "failed"));
}
