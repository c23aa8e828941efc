import type { Host } from "../../api/plugin.ts";
import type { Draft } from "../../core/set/draft.ts";
import { type Fault, faultAt } from "../../core/set/faults.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";
import { ANCHOR_RAILS } from "../config/serve.ts";

/** A host that records which of its capabilities are taken. */
export interface NotingHost {
  readonly host: Host;
  /** The capabilities taken since the last call, by their names in `Host`. */
  readonly collect: () => ReadonlySet<string>;
}

export function noteCapabilities(host: Host): NotingHost {
  let taken = new Set<string>();
  const noting = new Proxy(host, {
    get(target, name, receiver) {
      taken.add(String(name));
      return Reflect.get(target, name, receiver) as unknown;
    },
  });
  return {
    host: noting,
    collect() {
      const collected = taken;
      taken = new Set();
      return collected;
    },
  };
}

/** The fault of a service that writes anchors although the site lacks a rail for it. */
export function checkAnchorRail(
  draft: Draft,
  taken: ReadonlySet<string>,
  { rails = [] }: Partial<SiteManifest>,
): Fault[] {
  const { base } = ANCHOR_RAILS;
  if (!taken.has("anchor") || rails.some(({ id }) => id === base)) return [];
  const complaint = `it anchors, and anchors are written to the chain of the rail "${base}", which _site.yaml does not list`;
  return [faultAt(draft, ["handler"], "no-anchor-rail", complaint)];
}
