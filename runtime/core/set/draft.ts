import type { SourceFile } from "./faults.ts";
import type { Manifest, SiteManifest } from "./manifest.ts";

/** A manifest without its faulty keys; the other keys are valid by themselves. */
export type Draft = SourceFile<Partial<Manifest>>;

/** `_site.yaml` without its faulty keys. */
export type SiteDraft = SourceFile<Partial<SiteManifest>>;

/** Whether the value of a key is faulty, so that its contents are unknown. */
export const isFaulty = <Data extends object>({ data }: SourceFile<Data>, key: keyof Data): boolean =>
  Object.hasOwn(data, key) && data[key] === undefined;
