import type { SourceFile } from "./faults.ts";
import type { Manifest, SiteManifest } from "./manifest.ts";

/** A manifest without its faulty keys: those that are left are valid by themselves. */
export type Draft = SourceFile<Partial<Manifest>>;

/** `_site.yaml` without its faulty keys. */
export type SiteDraft = SourceFile<Partial<SiteManifest>>;

/** Whether a file has a key whose value is faulty: what it lists is unknown then. */
export const isFaulty = ({ data }: SiteDraft, key: keyof SiteManifest): boolean =>
  Object.hasOwn(data, key) && data[key] === undefined;
