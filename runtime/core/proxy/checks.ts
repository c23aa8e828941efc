import { didYouMean } from "../set/did-you-mean.ts";
import type { Draft, SiteDraft } from "../set/draft.ts";
import { type Fault, faultAt, faultAtKey } from "../set/faults.ts";

/** Checks what manifests say about whose work they sell: their own handler's, or an upstream's. */
export const checkProxies = (drafts: readonly Draft[], site: SiteDraft | undefined): Fault[] =>
  drafts.flatMap((draft) => [...checkSource(draft), ...checkUpstream(draft, site)]);

function checkSource(draft: Draft): Fault[] {
  const { handler, proxy } = draft.data;
  if (handler !== undefined && proxy !== undefined)
    return [faultAtKey(draft, ["proxy"], "bad-proxy", "the service has a handler already: leave one of them out")];
  if (proxy === undefined) return [];
  if (proxy.mcp === undefined && proxy.request === undefined)
    return [missing(draft, "request", 'is missing: what is asked, such as "GET /v1/rates/{date}"')];
  if (proxy.mcp !== undefined && proxy.tool === undefined)
    return [missing(draft, "tool", "is missing: the name of the server's tool")];
  return [];
}

function checkUpstream(draft: Draft, site: SiteDraft | undefined): Fault[] {
  const { upstream } = draft.data.proxy ?? {};
  if (upstream === undefined || !site) return [];
  const known = (site.data.upstreams ?? []).map(({ id }) => id);
  if (known.includes(upstream)) return [];
  const complaint = `_site.yaml lists no upstream "${upstream}"${didYouMean(upstream, known)}`;
  return [faultAt(draft, ["proxy", "upstream"], "unknown-upstream", complaint)];
}

const missing = (draft: Draft, key: string, complaint: string): Fault => ({
  ...faultAtKey(draft, ["proxy", key], "missing-key", complaint),
  ...draft.locate(["proxy"], "key"),
});
