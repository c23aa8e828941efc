import type { Schemas } from "../../schema/subschemas.ts";
import { didYouMean } from "../../set/did-you-mean.ts";
import { type Draft, isFaulty, type SiteDraft } from "../../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../../set/faults.ts";
import type { ProxyManifest, UpstreamManifest } from "../../set/manifest.ts";
import { checkMedia } from "../media.ts";
import { checkAnswer } from "./answer.ts";
import { checkConstants } from "./constants.ts";
import { checkHeaders, checkQuery } from "./head.ts";
import { checkPlaceholders } from "./placeholders.ts";
import { checkPoll } from "./poll.ts";
import { checkRequestLine } from "./request.ts";
import { checkMcp, checkUpstreamKeys } from "./upstreams.ts";

/** The data against which proxied services are checked. */
export interface ProxyChecks {
  readonly site: SiteDraft | undefined;
  readonly schemas: Schemas;
}

/** Checks that each manifest has a handler or a valid `proxy`. */
export const checkProxies = (drafts: readonly Draft[], { site, schemas }: ProxyChecks): Fault[] => [
  ...(site ? checkUpstreamKeys(site) : []),
  ...drafts.flatMap((draft) => {
    const { proxy } = draft.data;
    if (!proxy) return [...checkMedia(draft), ...checkMcp(draft, site)];
    const upstream = (site?.data.upstreams ?? []).find(({ id }) => id === proxy.upstream);
    return [
      ...checkMedia(draft),
      ...checkKind(draft, proxy),
      ...checkUseless(draft),
      ...checkMcp(draft, site),
      ...(proxy.mcp === undefined
        ? checkHttp(draft, proxy, { upstream, site, schemas })
        : checkAnswer(draft, proxy, schemas)),
    ];
  }),
];

/** The keys of a proxied HTTP API. */
const OF_HTTP = ["upstream", "request", "query", "headers", "body", "encoding", "files", "charge_on", "poll"] as const;

function checkKind(draft: Draft, proxy: ProxyManifest): Fault[] {
  const { handler } = draft.data;
  const fail = (key: keyof ProxyManifest, complaint: string): Fault =>
    faultAtKey(draft, ["proxy", key], "bad-proxy", complaint);
  if (handler !== undefined)
    return [faultAtKey(draft, ["proxy"], "bad-proxy", "the service has a handler already: leave one of them out")];
  if (proxy.mcp === undefined)
    return [
      ...(proxy.request === undefined
        ? [missing(draft, "request", 'is missing: what is asked, such as "GET /v1/rates/{date}"')]
        : []),
      ...(proxy.tool === undefined ? [] : [fail("tool", "tools belong to an MCP server: say which under mcp")]),
    ];
  const strange = OF_HTTP.filter((key) => proxy[key] !== undefined);
  return [
    ...(proxy.tool === undefined ? [missing(draft, "tool", "is missing: the name of the server's tool")] : []),
    ...strange.map((key) => fail(key, "belongs to an HTTP API: a tool of an MCP server takes the input as it is")),
  ];
}

/** Refuses keys that only a plugin uses. */
const checkUseless = (draft: Draft): Fault[] =>
  (["needs", "upstreams", "llm"] as const).flatMap((key) =>
    draft.data[key] === undefined
      ? []
      : [faultAtKey(draft, [key], "bad-proxy", "only a handler reads it, and this service is proxied: leave it out")],
  );

interface HttpChecks extends ProxyChecks {
  readonly upstream: UpstreamManifest | undefined;
}

function checkHttp(draft: Draft, proxy: ProxyManifest, { upstream, site, schemas }: HttpChecks): Fault[] {
  return [
    ...checkUpstreamId(draft, proxy, site),
    ...checkRequestLine(draft, proxy),
    ...checkQuery(draft, proxy, upstream),
    ...checkHeaders(draft, proxy, upstream),
    ...checkConstants(draft, proxy),
    ...checkPoll(draft, proxy),
    ...checkAnswer(draft, proxy, schemas),
    ...checkPlaceholders(draft, proxy, schemas),
  ];
}

function checkUpstreamId(draft: Draft, { upstream, request }: ProxyManifest, site: SiteDraft | undefined): Fault[] {
  if (upstream === undefined)
    return request === undefined || request.includes(" {")
      ? []
      : [missing(draft, "upstream", "is missing: the id of a source in _site.yaml, below whose URL this path is")];
  if (!site || isFaulty(site, "upstreams")) return [];
  const known = (site.data.upstreams ?? []).map(({ id }) => id);
  if (known.includes(upstream)) return [];
  const complaint = `_site.yaml lists no upstream "${upstream}"${didYouMean(upstream, known)}`;
  return [faultAt(draft, ["proxy", "upstream"], "unknown-upstream", complaint)];
}

const missing = (draft: Draft, key: string, complaint: string): Fault => ({
  ...faultAtKey(draft, ["proxy", key], "missing-key", complaint),
  ...draft.locate(["proxy"], "key"),
});
