import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Problem } from "../../../api/problem.ts";
import type { Fault } from "../../../core/set/faults.ts";
import { makeFolder } from "../../../drivers/folder.ts";
import { loadSet, type ManifestSet } from "../../set/load.ts";

/** The manifests and schemas of a shop, by file: `manifests/_site.yaml`. */
export type ShopFiles = ReadonlyMap<string, string>;

/** Reads the files that the check reads. */
export async function readShop(dir: string): Promise<ShopFiles> {
  const folders = [
    ["manifests", ".yaml"],
    ["schemas", ".json"],
  ] as const;
  const found = await Promise.all(
    folders.map(async ([folder, extension]) => {
      const names = await readdir(join(dir, folder)).catch(() => []);
      const own = names.filter((name) => name.endsWith(extension) && !name.startsWith("."));
      return Promise.all(
        own.map(async (name) => [`${folder}/${name}`, await readOwn(dir, `${folder}/${name}`)] as const),
      );
    }),
  );
  return new Map(found.flat());
}

async function readOwn(dir: string, file: string): Promise<string> {
  try {
    return await readFile(join(dir, file), "utf8");
  } catch (error) {
    throw new Problem("bad-request", `${file} cannot be read (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Checks files like `payphone check`, without the plugins, in a temporary folder. */
export async function checkFiles(
  files: ShopFiles,
): Promise<{ readonly set: ManifestSet; readonly faults: readonly Fault[] }> {
  const dir = await mkdtemp(join(tmpdir(), "payphone-import-"));
  try {
    await Promise.all(["manifests", "schemas"].map((folder) => mkdir(join(dir, folder))));
    await Promise.all([...files].map(([file, text]) => writeFile(join(dir, file), text)));
    const set = await loadSet(dir);
    return { set, faults: set.faults };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

/**
 * Writes all files or none. Each is written completely before any is put in place, in this order; on failure, replaced
 * files are restored. A file may be listed several times.
 * @param confirm throws when they must not be put in place
 */
export async function writeAll(
  dir: string,
  files: readonly (readonly [file: string, text: string])[],
  confirm: () => Promise<void>,
): Promise<void> {
  const earlier = new Map<string, string | undefined>();
  const placed = new Set<string>();
  const staged: { readonly draft: string; readonly path: string }[] = [];
  try {
    for (const folder of new Set(files.map(([file]) => dirname(join(dir, file))))) {
      makeFolder(folder);
      await removeDrafts(folder);
    }
    for (const [file, text] of files) {
      const path = join(dir, file);
      if (!earlier.has(path)) earlier.set(path, await readFile(path, "utf8").catch(() => undefined));
      const draft = join(dirname(path), `.${process.pid}.${staged.length}.import`);
      staged.push({ draft, path });
      await writeFile(draft, text);
    }
    await confirm();
    for (const { draft, path } of staged) {
      await rename(draft, path);
      placed.add(path);
    }
  } catch (error) {
    for (const path of placed) {
      const text = earlier.get(path);
      await (text === undefined ? rm(path, { force: true }) : writeFile(path, text));
    }
    throw new Problem("unavailable", `Nothing was written: ${(error as Error).message}`, { cause: error });
  } finally {
    await Promise.all(staged.map(({ draft }) => rm(draft, { force: true })));
  }
}

/** Removes temporary files that an interrupted import has left in a folder. */
async function removeDrafts(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const [, pid] = /^\.(\d+)\.\d+\.import$/.exec(name) ?? [];
    if (pid !== undefined && Number(pid) !== process.pid && !isRunning(Number(pid))) await rm(join(folder, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
