import { mkdir, mkdtemp, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Problem } from "../../../api/problem.ts";
import type { Fault } from "../../../core/set/faults.ts";
import { loadSet, type ManifestSet } from "../../set/load.ts";

/** The manifests and schemas of a shop, by file: `manifests/_site.yaml`. */
export type ShopFiles = ReadonlyMap<string, string>;

/** Reads the files that a check reads. */
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

/** Checks files as `payphone check` would, without the plugins, in a folder of their own. */
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

/** Writes all files or none: each is complete before any takes its place, and what was replaced is put back on failure. */
export async function writeAll(dir: string, files: ShopFiles): Promise<void> {
  const earlier = new Map<string, string | undefined>();
  const staged: string[] = [];
  try {
    for (const [file, text] of files) {
      const path = join(dir, file);
      await mkdir(dirname(path), { recursive: true });
      earlier.set(file, await readFile(path, "utf8").catch(() => undefined));
      const draft = join(dirname(path), `.${process.pid}.${staged.length}.import`);
      staged.push(draft);
      await writeFile(draft, text);
    }
    for (const [at, file] of [...files.keys()].entries()) await rename(staged[at] as string, join(dir, file));
  } catch (error) {
    for (const [file, text] of earlier)
      await (text === undefined ? rm(join(dir, file), { force: true }) : writeFile(join(dir, file), text));
    throw new Problem("unavailable", `Nothing was written: ${(error as Error).message}`, { cause: error });
  } finally {
    await Promise.all(staged.map((draft) => rm(draft, { force: true })));
  }
}
