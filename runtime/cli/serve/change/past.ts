import type { Log } from "../../../api/capabilities.ts";
import type { SetFolder } from "../../history/folder.ts";
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

  const follow = async (before: EarlierSet | undefined, next: ManifestSet): Promise<readonly ManifestSet[]> => {
    planned = retire(retired, before, next, Date.now());
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
        const sets = await follow(await lastSold(first), first.set);
        retired = planned;
        return sets;
      } catch (error) {
        unkept(error);
        return [];
      }
    },
    between: ({ set, folder }, next) => follow(folder && { digest: folder.digest, set }, next.set),
    keep: async ({ folder }) => folder && history.keep(folder).catch(unkept),
    async note(entry) {
      retired = planned;
      try {
        await history.setRetired(retired);
        if ((await history.last())?.digest !== entry.digest) await history.add(entry);
      } catch (error) {
        unkept(error);
      }
    },
  };

  /** The set that was sold last, unless it is the first set itself. */
  async function lastSold({ folder }: FiledSet): Promise<EarlierSet | undefined> {
    const last = await history.last();
    const dir = last && last.digest !== folder?.digest ? await history.find(last.digest) : undefined;
    return last && dir !== undefined ? { digest: last.digest, set: await loadSet(dir, true, home) } : undefined;
  }
}
