import type { Manifest, SiteManifest } from "../set/manifest.ts";

/** Whose answers a proxied service sells, for people; undefined for a service with a handler of its own. */
export function sourceOf(
  { proxy }: Pick<Manifest, "proxy">,
  { upstreams = [] }: Pick<SiteManifest, "upstreams">,
): string | undefined {
  if (!proxy) return undefined;
  if (proxy.mcp !== undefined) return proxy.mcp;
  if (proxy.upstream === undefined) return "the address that the input names";
  return upstreams.find(({ id }) => id === proxy.upstream)?.title ?? proxy.upstream;
}
