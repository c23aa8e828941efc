import { isSameToken, type RailToken } from "../../core/rails/tokens.ts";
import { JOB_KEEP_MS } from "../../core/refunds/records.ts";
import type { Manifest, RailManifest } from "../../core/set/manifest.ts";
import { loadSet, type ManifestSet } from "../set/load.ts";

/** A service that is no longer offered, at some or all of its routes; or a rail. */
export interface RetiredEntry {
  readonly id: string;
  /** The digest of the set that offered it last. */
  readonly digest: string;
  /** All its routes, as `METHOD /path`; a rail has none. */
  readonly routes: readonly string[];
  /** Unix milliseconds. Until then its results can be fetched; a day later, the entry is dropped. */
  readonly until: number;
  readonly token?: RailToken;
}

/** A set that was sold before. */
export interface EarlierSet {
  readonly digest: string;
  readonly set: Pick<ManifestSet, "site" | "manifests">;
}

const DAY_MS = 24 * 60 * 60_000;
/** Longer than a payment is recorded, unless a site keeps answers for longer. */
const RECORDS_MS = 3 * DAY_MS;

/** The retired services and rails when `next` takes the place of `before`. */
export function retire(
  known: readonly RetiredEntry[],
  before: EarlierSet | undefined,
  next: Pick<ManifestSet, "site" | "manifests">,
  now: number,
): readonly RetiredEntry[] {
  const routes = new Map(next.manifests.map((manifest) => [manifest.id, routesOf(manifest)]));
  const isGone = ({ id, routes: own, token }: RetiredEntry): boolean =>
    token
      ? !next.site.rails.some((rail) => isSameToken(rail, token))
      : !own.every((route) => routes.get(id)?.includes(route));
  const gone = (before ? toEntries(before, now) : []).filter(isGone);
  const isNew = (entry: RetiredEntry): boolean => !gone.some((other) => nameOf(other) === nameOf(entry));
  return [...known.filter((entry) => entry.until + DAY_MS > now && isGone(entry) && isNew(entry)), ...gone];
}

const nameOf = ({ id, routes, token }: RetiredEntry): string =>
  token ? `${token.network} ${token.asset}` : [id, ...routes].join();

function toEntries({ digest, set: { site, manifests } }: EarlierSet, now: number): readonly RetiredEntry[] {
  const until = now + RECORDS_MS + (site.limits.answers_minutes ?? 0) * 60_000;
  const services = manifests.map((manifest) => {
    const keptUntil = manifest.job ? now + JOB_KEEP_MS : until;
    return { id: manifest.id, digest, routes: routesOf(manifest), until: keptUntil };
  });
  const toRail = ({ id, network, asset }: RailManifest): RetiredEntry => ({
    id,
    digest,
    routes: [],
    until,
    token: { network, asset },
  });
  return [...services, ...site.rails.map(toRail)];
}

const routesOf = ({ route, aliases = [], job }: Manifest): readonly string[] => [
  route,
  ...aliases,
  ...(job ? [job.status_route] : []),
];

/**
 * Loads the retired services and rails, as one set for each set that offered them. Sets that are not kept any more are
 * skipped.
 * @param terms.find returns the folder with a set's files
 */
export async function loadRetired(
  entries: readonly RetiredEntry[],
  { find, home }: { readonly find: (digest: string) => Promise<string | undefined>; readonly home: string },
): Promise<readonly ManifestSet[]> {
  const byDigest = Map.groupBy(entries, ({ digest }) => digest);
  const sets = [...byDigest].map(async ([digest, own]) => {
    const dir = await find(digest);
    const set = dir === undefined ? undefined : await loadSet(dir, { isKnown: true, home });
    return set ? [only(set, own)] : [];
  });
  return (await Promise.all(sets)).flat();
}

function only(set: ManifestSet, entries: readonly RetiredEntry[]): ManifestSet {
  const ids = entries.filter(({ token }) => !token).map(({ id }) => id);
  const rails = set.site.rails.filter((rail) => entries.some(({ token }) => token && isSameToken(token, rail)));
  return {
    ...set,
    site: { ...set.site, rails },
    manifests: set.manifests.filter(({ id }) => ids.includes(id)),
    drafts: set.drafts.filter(({ data: { id = "" } }) => ids.includes(id)),
  };
}
