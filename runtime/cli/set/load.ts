import { realpath } from "node:fs/promises";
import { resolve } from "node:path";
import { checkProxies } from "../../core/proxy/checks/checks.ts";
import { withMedia } from "../../core/proxy/media.ts";
import { checkRails } from "../../core/rails/checks.ts";
import { isTestSite, sayTestMoney } from "../../core/rails/networks.ts";
import type { Compile } from "../../core/schema/validator.ts";
import { compileSet } from "../../core/set/compiled-set.ts";
import type { Draft } from "../../core/set/draft.ts";
import { byPlace, type Fault } from "../../core/set/faults.ts";
import { deepFreeze } from "../../core/set/freeze.ts";
import type { Manifest, SiteManifest } from "../../core/set/manifest.ts";
import { checkManifests } from "../../core/set/manifests.ts";
import { checkSite } from "../../core/set/site.ts";
import { checkScreened } from "../../core/set/site-services.ts";
import { structureChecks, TRUSTED } from "../../core/set/structure.ts";
import { checkAddresses } from "./address-checks.ts";
import { checkProxyExamples } from "./proxy-examples.ts";
import { readSet } from "./read-set.ts";

/** A directory of services, read and checked. `site` and `manifests` are complete only when `faults` is empty. */
export interface ManifestSet {
  /** Absolute, without symbolic links. */
  readonly dir: string;
  /** The shop's folder: `dir` itself, or the folder that `dir` is a copy of. */
  readonly home: string;
  readonly site: SiteManifest;
  /** By file name. */
  readonly manifests: readonly Manifest[];
  /** By name. */
  readonly schemas: ReadonlyMap<string, object>;
  readonly compile: Compile;
  /** The valid part of each manifest, with the positions of its values. */
  readonly drafts: readonly Draft[];
  /** In the report's order. Faults of plugins come from `loadPlugins`. */
  readonly faults: readonly Fault[];
  /** Whether the set is known to have no faults, so that manifests, schemas and examples were not checked again. */
  readonly isKnown: boolean;
}

/** A set is known when an earlier check found no fault, in plugins either, and no file has changed since. */
type LoadTerms = Partial<Pick<ManifestSet, "isKnown" | "home">>;

/** Reads `manifests/` and `schemas/` of a directory and finds all their faults. */
export async function loadSet(dir: string, { isKnown = false, home = dir }: LoadTerms = {}): Promise<ManifestSet> {
  const root = await toRealPath(dir);
  const files = await readSet(root);
  const check = isKnown ? TRUSTED : structureChecks();
  const site = files.site && check.site(files.site);
  const manifests = files.manifests.map(check.manifest);
  const written = manifests.map(({ draft }) => draft);
  const drafts = written.map(withMedia);
  const { schemas, compile, faults } = compileSet(files.schemas, drafts, isKnown);
  const isTest = isTestSite(site?.draft.data ?? {});
  return {
    dir: root,
    home: await toRealPath(home),
    // The casts are valid when there are no faults, as the interface says.
    site: deepFreeze(isTest && site ? sayTestMoney(site.draft.data) : (site?.draft.data ?? {})) as SiteManifest,
    manifests: drafts.map(
      ({ data }) => deepFreeze(isTest && data.price !== undefined ? sayTestMoney(data) : data) as Manifest,
    ),
    schemas: schemas.documents,
    compile,
    drafts,
    isKnown,
    faults: [
      ...files.faults,
      ...(site?.faults ?? []),
      ...manifests.flatMap((manifest) => manifest.faults),
      ...(site ? [...checkSite(site.draft), ...checkRails(site.draft, site.faults.length === 0)] : []),
      ...(!isKnown && site?.faults.length === 0
        ? [...checkAddresses(site.draft), ...checkScreened(site.draft, drafts, compile)]
        : []),
      ...checkProxies(written, { site: site?.draft, schemas }),
      ...(isKnown ? [] : checkProxyExamples(drafts, compile)),
      ...checkManifests({ ...(site && { site: site.draft }), manifests: drafts, schemas }),
      ...faults,
    ].sort(byPlace),
  };
}

const toRealPath = (dir: string): Promise<string> => realpath(dir).catch(() => resolve(dir));
