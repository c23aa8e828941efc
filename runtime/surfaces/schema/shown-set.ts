import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";

/** A set of services, as documents and pages show it. */
export interface ShownSet {
  readonly services: readonly Service[];
  readonly site: SiteManifest;
  /** The set's schemas by name. */
  readonly schemas: ReadonlyMap<string, object>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

export interface LinkedSet extends ShownSet {
  /** Absolute URLs of other documents and doors, by name. */
  readonly links: Readonly<Record<string, string>>;
}
