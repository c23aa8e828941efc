import { existsSync, type FSWatcher, watch } from "node:fs";
import { dirname, join } from "node:path";
import { readFolder } from "../../history/folder.ts";

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
const FOLDERS = ["manifests", "plugins", "schemas"];

/** Watches all files of a set, including the shop's other files that plugins import. */
export function watchFolder({ dir, onChange }: FolderWatchOptions): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;
  let working = Promise.resolve();

  look();
  return {
    close() {
      isClosed = true;
      clearTimeout(timer);
      for (const watcher of watchers.values()) watcher.close();
    },
  };

  function look(): void {
    for (const [folder, recursive] of foldersOf(dir)) {
      if (isClosed || watchers.has(folder)) continue;
      const watcher = watch(folder, { recursive, persistent: false }, notice);
      watcher.on("error", () => forget(folder)); // The folder is gone. The next change looks for it again.
      watchers.set(folder, watcher);
    }
  }

  function forget(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  function notice(): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(onChange).finally(look);
    }, CALM_MS);
  }
}

/** The folders to watch, and whether each is watched with its subfolders. The shop's own folder reports new folders. */
function foldersOf(dir: string): ReadonlyMap<string, boolean> {
  const own = FOLDERS.map((name) => join(dir, name)).filter((folder) => existsSync(folder));
  const others = filesOf(dir)
    .filter((name) => !FOLDERS.some((folder) => name.startsWith(`${folder}/`)))
    .map((name) => dirname(join(dir, name)));
  const below: readonly (readonly [string, boolean])[] = own.map((folder) => [folder, true]);
  const beside: readonly (readonly [string, boolean])[] = [...others, dir].map((folder) => [folder, false]);
  return new Map([...beside, ...below]);
}

/** Empty while a file is being replaced. */
function filesOf(dir: string): readonly string[] {
  try {
    return [...readFolder(dir).files.keys()];
  } catch {
    return [];
  }
}
