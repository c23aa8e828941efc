import { buffer } from "node:stream/consumers";
import { Problem } from "../../api/problem.ts";
import { type Manifest, type UpstreamManifest, upstreamsOf } from "../../core/set/manifest.ts";
import type { WireAnswer } from "../../drivers/upstream/transport.ts";
import type { Sandbox } from "../../sandbox/open-sandbox.ts";
import { listRecordings, loadRecordings, type Recording } from "../../sandbox/recordings/recordings.ts";
import { createRecordedSession } from "../../sandbox/recordings/session.ts";
import { createRecordedTransport, toRecordedFetch } from "../../sandbox/recordings/transport.ts";
import type { Config } from "../config/config.ts";
import type { SandboxParts } from "../serve/composition.ts";
import { locate } from "../serve/locate.ts";
import type { SourcesOverride } from "../serve/sources.ts";
import type { ManifestSet } from "../set/load.ts";

export interface SandboxSourcesOptions {
  readonly set: ManifestSet;
  /** The configuration outside the sandbox, which may name live upstreams and a language model. */
  readonly own: Pick<Config, "env" | "llm">;
  readonly sandbox: Pick<Sandbox, "chains">;
  /** Whether services read live upstreams. */
  readonly online: boolean;
  /** The ids of upstreams that are read live even offline. */
  readonly live?: readonly string[];
}

/** The origin of an answer's data: a recording, a chain of the sandbox, or the upstream itself. */
type Origin = "recorded" | "embedded" | "live";

/**
 * The upstreams of a sandbox. Offline: recordings, then the sandbox's own chains. Online: live upstreams, and the
 * sandbox's own chains when the environment names no node. A language model in the environment is always live.
 * @throws Problem `bad-request` with every fault of the recordings.
 */
export function toSandboxSources(options: SandboxSourcesOptions): Pick<SandboxParts, "sources" | "origins"> {
  const { set, own, sandbox, online, live: chosen = [] } = options;
  const upstreams = set.site.upstreams ?? [];
  const chainOf = ({ network = "" }: UpstreamManifest): string | undefined =>
    (sandbox.chains.evm.get(network) ?? sandbox.chains.solana.get(network))?.url;
  const originOf = (upstream: UpstreamManifest): Origin => {
    const isNamed = upstream.variable !== undefined && own.env[upstream.variable] !== undefined;
    const isLive = online || chosen.includes(upstream.id);
    if (chainOf(upstream) && !(isLive && isNamed)) return "embedded";
    return isLive ? "live" : "recorded";
  };
  const origins = new Map(upstreams.map((upstream) => [upstream.id, originOf(upstream)]));
  const place: SourcesOverride["locate"] = (upstream) =>
    origins.get(upstream.id) === "live"
      ? locate(upstream, own.env)
      : { url: chainOf(upstream) ?? upstream.url ?? `http://${upstream.id}.invalid`, headers: {}, isOwn: true };

  const recordings = recordingsOf(set);
  const baseUrls = new Map(upstreams.map((upstream) => [upstream.id, place(upstream).url ?? ""]));
  const titles = new Map(upstreams.map(({ id, title }) => [id, title]));
  const ofModel = { baseUrls: new Map([[LLM, LLM_URL]]), titles: new Map([[LLM, "the language model"]]) };
  return {
    sources: {
      locate: place,
      wrap: (live) => {
        if (online) return live;
        const play = createRecordedTransport({
          recordings,
          baseUrls,
          titles,
          remedy: SET_LIVE,
          fallback: (request) => {
            const chain = upstreams.find(({ id }) => id === request.upstream && origins.get(id) === "embedded");
            return chain && toKnown(chain, live(request));
          },
        });
        return (request) => (origins.get(request.upstream) === "live" ? live(request) : play(request));
      },
      session: (upstream) =>
        upstream.mcp === "http" && origins.get(upstream.id) === "recorded"
          ? createRecordedSession({ recordings, upstream, remedy: SET_LIVE })
          : undefined,
      llm: own.llm
        ? undefined
        : {
            endpoint: RECORDED_MODEL,
            fetch: toRecordedFetch(LLM, createRecordedTransport({ recordings, ...ofModel, remedy: SET_MODEL })),
          },
    },
    origins: (manifest: Manifest) => {
      const { llm } = manifest;
      const marks = upstreamsOf(manifest).map((id) => `${id}=${origins.get(id)}`);
      if (llm) marks.push(`${LLM}=${own.llm ? "live" : "recorded"}`);
      return marks.length > 0 ? marks.join(", ") : undefined;
    },
  };
}

/** A copy of a set, as after a rollback, has the recordings of its plugins only: the others are in the shop's folder. */
function recordingsOf({ dir, home }: Pick<ManifestSet, "dir" | "home">): readonly Recording[] {
  if (dir === home) return loadRecordings(dir);
  const others = listRecordings(home).filter((file) => !file.startsWith("plugins"));
  return [...loadRecordings(dir), ...loadRecordings(home, others)];
}

/** The answer of an embedded chain. @throws Problem `upstream-failed` about blocks that only recordings have. */
async function toKnown({ id, title, variable }: UpstreamManifest, asked: Promise<WireAnswer>): Promise<WireAnswer> {
  const answer = await asked;
  const body = await buffer(answer.body);
  if (!body.includes(NO_SUCH_BLOCK)) return { ...answer, body: ReadableStream.from([body]) };
  const remedy = variable ? `set ${variable} and start it with --live ${id}` : "give it a node";
  throw new Problem(
    "upstream-failed",
    `The sandbox works offline, and has neither a recording nor the blocks for this question to ${title}: it answers the ` +
      `manifests' examples, and what happens on its own chain. For anything else, ${remedy}.`,
  );
}

/** In anvil's answer about a block above its newest. */
const NO_SUCH_BLOCK = "BlockOutOfRangeError";

const SET_LIVE = "start it with --live and the source's id (--online: all sources)";
/** The upstream id of the language model in recordings. */
export const LLM = "llm";
const SET_MODEL = "set LLM_BASE_URL and LLM_MODEL";
const LLM_URL = "http://llm.invalid/v1";
const RECORDED_MODEL = { baseUrl: LLM_URL, model: "recorded" };
