import type { Service } from "../../core/service.ts";
import type { SiteManifest } from "../../core/set/manifest.ts";

/** A set of services, as challenges and tools describe it. */
export interface DescribedSet {
  readonly services: readonly Service[];
  /** The set's schemas by name. */
  readonly schemas: ReadonlyMap<string, object>;
  /** The public base URL, without a trailing slash. */
  readonly baseUrl: string;
}

/** A set of services, as documents and pages show it. */
export interface ShownSet extends DescribedSet {
  readonly site: SiteManifest;
}

export interface LinkedSet extends ShownSet {
  /** Absolute URLs of other documents and doors, by name. */
  readonly links: Readonly<Record<string, string>>;
}
