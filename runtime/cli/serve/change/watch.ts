import { type FSWatcher, readdirSync, realpathSync, statSync, watch } from "node:fs";
import { dirname, join } from "node:path";
import { PLACES, type SetFolder, tryReadFolder } from "../../history/folder.ts";

export interface FolderWatch {
  close(): void;
}

export interface FolderWatchOptions {
  /** The shop's folder. */
  readonly dir: string;
  /** Called soon after a change; several changes are combined. */
  readonly onChange: () => Promise<void>;
}

/** How long files must stay unchanged, since an editor writes a file in several steps. */
const CALM_MS = 60;

/** Watches all files of a set, including the shop's other files that plugins import. */
export function watchFolder({ dir, onChange }: FolderWatchOptions): FolderWatch {
  const watchers = new Map<string, { readonly inode: number; readonly watcher: FSWatcher }>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let working = Promise.resolve();
  let known = stateOf(dir);

  look();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const folder of watchers.keys()) forget(folder);
    },
  };

  /** Watches the folders that are there now, and looks again when one is new: its files may have come before the watcher. */
  function look(): void {
    if (isClosed) return;
    const isFirst = watchers.size === 0;
    let isMore = false;
    for (const [folder, inode] of foldersOf(dir)) {
      if (watchers.get(folder)?.inode === inode) continue;
      forget(folder);
      const [watcher] = tried(() => [watch(folder, { persistent: false }, notice)]);
      if (!watcher) continue; // The folder is gone, or the system's limit of watchers is reached.
      watcher.on("error", () => forget(folder)); // The folder is gone. The next change looks for it again.
      watchers.set(folder, { inode, watcher });
      isMore = true;
    }
    if (isMore && !isFirst) notice();
  }

  function forget(folder: string): void {
    watchers.get(folder)?.watcher.close();
    watchers.delete(folder);
  }

  function notice(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(work).finally(look);
    }, CALM_MS);
  }

  /** Other files change in these folders, too, such as a log that `onChange` itself writes. */
  async function work(): Promise<void> {
    const state = stateOf(dir);
    if (state === known) return;
    known = state;
    await onChange();
  }
}

/**
 * A text that differs when files or folders of the set differ, when packages were installed, or when a file was written
 * anew: `onChange` may have read it half-written.
 */
function stateOf(dir: string): string {
  const folder = tryReadFolder(dir);
  const names = namesOf(folder);
  const times = [...names, "node_modules"].flatMap((name) => tried(() => [statSync(join(dir, name)).mtimeMs]));
  return JSON.stringify([folder?.digest, [...foldersOf(dir, names)], times]);
}

/**
 * The folders to watch, with their inodes, since a folder may be replaced by another one. Each is watched by itself:
 * Node's recursive watcher loses files that editors replace. Files may be links into other folders.
 */
function foldersOf(dir: string, names = namesOf(tryReadFolder(dir))): ReadonlyMap<string, number> {
  const own = PLACES.map((name) => join(dir, name)).flatMap((folder) => [folder, ...foldersBelow(folder)]);
  const files = names.flatMap((name) => tried(() => [dirname(realpathSync(join(dir, name)))]));
  return new Map([dir, ...own, ...files].flatMap((folder) => tried(() => [[folder, statSync(folder).ino] as const])));
}

const foldersBelow = (folder: string): readonly string[] =>
  tried(() => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => !path.includes("node_modules"));

const namesOf = (folder: SetFolder | undefined): readonly string[] => [...(folder?.files.keys() ?? [])];

/** Nothing while a file or folder is being replaced. */
function tried<T>(read: () => readonly T[]): readonly T[] {
  try {
    return read();
  } catch {
    return [];
  }
}
