import type { Log } from "../../../api/capabilities.ts";
import { type SetFolder, tryReadFolder } from "../../history/folder.ts";
import { createHistory, type History, type HistoryEntry } from "../../history/history.ts";
import { type EarlierSet, loadRetired, type RetiredEntry, retire } from "../../history/retired.ts";
import { loadSet, type ManifestSet } from "../../set/load.ts";

export interface FiledSet {
  readonly set: ManifestSet;
  /** Undefined when a file cannot be read. */
  readonly folder: SetFolder | undefined;
}

/**
 * The sets that were sold before, and their retired services. When the data directory is not writable, nothing is kept.
 */
export interface Past {
  readonly history: History;
  /** The retired services at the start: those that the first set does not offer any more. */
  atStart(first: FiledSet): Promise<readonly ManifestSet[]>;
  /** The set that was sold before this start, when it is kept and another one. */
  before(): FiledSet | undefined;
  /** The retired services after `next` takes the place of `current`. */
  between(current: FiledSet, next: FiledSet): Promise<readonly ManifestSet[]>;
  /** Keeps the files of a set that is about to be sold. */
  keep(next: FiledSet): Promise<void>;
  /** Records that a set is sold, and which services it retires. */
  note(entry: HistoryEntry): Promise<void>;
}

export interface PastDeps {
  readonly dataDir: string;
  /** The shop's folder. */
  readonly home: string;
  readonly log: Log;
}

export function createPast({ dataDir, home, log }: PastDeps): Past {
  const history = createHistory(dataDir);
  const unkept = (error: unknown): void => log.warn("set.not-kept", { error });
  let retired: readonly RetiredEntry[] = [];
  /** What takes their place once the next set is sold: it may be refused. */
  let planned: readonly RetiredEntry[] = [];
  let before: (FiledSet & EarlierSet) | undefined;

  const follow = async (earlier: EarlierSet | undefined, next: ManifestSet): Promise<readonly ManifestSet[]> => {
    planned = retire(retired, earlier, next, Date.now());
    return loadRetired(planned, { find: history.find, home });
  };
  return {
    history,
    async atStart(first) {
      try {
        retired = await history.retired().catch((error: unknown) => {
          unkept(error);
          return [];
        });
        planned = retired;
        const earlier = await lastSold(first);
        const sets = await follow(earlier, first.set); // Fails for a set that this version cannot read any more.
        retired = planned;
        before = earlier;
        return sets;
      } catch (error) {
        unkept(error);
        return [];
      }
    },
    before: () => before,
    between: ({ set, folder }, next) => follow(folder && { digest: folder.digest, set }, next.set),
    keep: async ({ folder }) => folder && history.keep(folder).catch(unkept),
    async note(entry) {
      retired = planned;
      before = undefined; // Nothing else is compared with it.
      try {
        await history.setRetired(retired);
        if ((await history.last())?.digest !== entry.digest) await history.add(entry);
      } catch (error) {
        unkept(error);
      }
    },
  };

  /** The set that was sold last, unless it is the first set itself. */
  async function lastSold({ folder }: FiledSet): Promise<(FiledSet & EarlierSet) | undefined> {
    const last = await history.last();
    const dir = last && last.digest !== folder?.digest ? await history.find(last.digest) : undefined;
    if (!last || dir === undefined) return undefined;
    return { digest: last.digest, set: await loadSet(dir, { isKnown: true, home }), folder: tryReadFolder(dir) };
  }
}
