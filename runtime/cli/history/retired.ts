import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import type { Manifest, SiteManifest } from "../../core/set/manifest.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";

/** A service that is no longer offered, at some or all of its routes. */
export interface RetiredEntry {
  readonly id: string;
  /** The digest of the set that offered it last. */
  readonly digest: string;
  /** All its routes, as `METHOD /path`. */
  readonly routes: readonly string[];
  /** Unix milliseconds. Until then its results can be fetched; a day later, the entry is dropped. */
  readonly until: number;
}

/** A set that was sold before. */
export interface EarlierSet {
  readonly digest: string;
  readonly set: Pick<ManifestSet, "site" | "manifests">;
}

const DAY_MS = 24 * 60 * 60_000;
/** Longer than a payment is recorded, unless a site keeps answers for longer. */
const RECORDS_MS = 3 * DAY_MS;

/** The retired services when `next` takes the place of `before`. */
export function retire(
  known: readonly RetiredEntry[],
  before: EarlierSet | undefined,
  next: Pick<ManifestSet, "manifests">,
  now: number,
): readonly RetiredEntry[] {
  const routes = new Map(next.manifests.map((manifest) => [manifest.id, routesOf(manifest)]));
  const isGone = (entry: Pick<RetiredEntry, "id" | "routes">): boolean =>
    !entry.routes.every((route) => routes.get(entry.id)?.includes(route));
  const gone = (before?.set.manifests ?? [])
    .map((manifest) => toEntry(manifest, before as EarlierSet, now))
    .filter(isGone);
  const isNew = ({ id, routes: own }: RetiredEntry): boolean =>
    !gone.some((entry) => entry.id === id && entry.routes.join() === own.join());
  return [...known.filter((entry) => entry.until + DAY_MS > now && isGone(entry) && isNew(entry)), ...gone];
}

function toEntry(manifest: Manifest, { digest, set: { site } }: EarlierSet, now: number): RetiredEntry {
  return { id: manifest.id, digest, routes: routesOf(manifest), until: now + keepMs(manifest, site) };
}

const keepMs = ({ job }: Manifest, { limits }: SiteManifest): number =>
  job ? JOB_KEEP_MS : RECORDS_MS + (limits.answers_minutes ?? 0) * 60_000;

const routesOf = ({ route, aliases = [], job }: Manifest): readonly string[] => [
  route,
  ...aliases,
  ...(job ? [job.status_route] : []),
];

/**
 * Loads the retired services, as one set for each set that offered them. Sets that are not kept any more are skipped.
 * @param terms.find returns the folder with a set's files
 */
export async function loadRetired(
  entries: readonly RetiredEntry[],
  { find, home }: { readonly find: (digest: string) => Promise<string | undefined>; readonly home: string },
): Promise<readonly ManifestSet[]> {
  const byDigest = Map.groupBy(entries, ({ digest }) => digest);
  const sets = [...byDigest].map(async ([digest, own]) => {
    const dir = await find(digest);
    const set = dir === undefined ? undefined : await loadSet(dir, true, home);
    const ids = own.map(({ id }) => id);
    return set ? [only(set, ids)] : [];
  });
  return (await Promise.all(sets)).flat();
}

const only = (set: ManifestSet, ids: readonly string[]): ManifestSet => ({
  ...set,
  manifests: set.manifests.filter(({ id }) => ids.includes(id)),
  drafts: set.drafts.filter(({ data: { id = "" } }) => ids.includes(id)),
});
