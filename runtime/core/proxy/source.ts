import type { Manifest, SiteManifest } from "../set/manifest.ts";

/** The source that a proxied service sells, for people; undefined for a service with its own handler. */
export function sourceOf(
  { proxy }: Pick<Manifest, "proxy">,
  { upstreams = [] }: Pick<SiteManifest, "upstreams">,
): string | undefined {
  if (!proxy) return undefined;
  const named = proxy.mcp ?? proxy.upstream;
  if (named === undefined) return "the address that the input names";
  return upstreams.find(({ id }) => id === named)?.title ?? named;
}
