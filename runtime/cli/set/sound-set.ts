import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { importedBy } from "./plugins/versions.ts";

/**
 * The file in the data directory with the digest of the last set without faults. While the digest stays the same, a
 * start skips compiling all schemas and running all examples, which is a quarter of its work.
 */
const FILE = "sound-set";
/** Reading larger files costs more than the check that it would save. */
const MOST_BYTES = 64_000_000;

const ROOT = join(import.meta.dirname, "../../..");
/** The code of the check, and the versions of its packages. */
const CHECKING = ["package.json", "runtime", "schemas/manifest.json", "schemas/site.json"];
/** The files that are checked. Plugins are included, with what they import, because they check examples. */
const CHECKED = ["package.json", "manifests", "plugins", "schemas"];

/**
 * SHA-256 of all files that determine whether a directory has faults, payphone's own included. Undefined when a file
 * cannot be read or is a link to a folder.
 */
export function digestSet(dir: string): string | undefined {
  const hash = createHash("sha256").update(process.version);
  try {
    const home = realpathSync(dir); // Node also names imported files by their real paths.
    for (const [root, names] of [[ROOT, listAll(ROOT, CHECKING)] as const, [home, withImported(home)] as const])
      for (const name of names) {
        const found = statSync(join(root, name));
        if (!found.isFile() || found.size > MOST_BYTES) return undefined; // Reading a pipe might never end.
        const content = readFileSync(join(root, name));
        hash.update(JSON.stringify([name, content.length])).update(content);
      }
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/** The digest of the last set without faults; undefined when it is missing or unreadable. */
export const readSoundSet = (dataDir: string): Promise<string | undefined> =>
  readFile(join(dataDir, FILE), "utf8").catch(() => undefined);

/** Stores the digest of a set without faults. A failure only makes the next start slower. */
export const noteSoundSet = (dataDir: string, digest: string): Promise<void> =>
  writeFile(join(dataDir, FILE), digest).catch(() => {});

const listAll = (root: string, places: readonly string[]): string[] =>
  places.flatMap((place) => listFiles(root, place));

/** The files that are checked, and the shop's other files that plugins import. */
function withImported(home: string): ReadonlySet<string> {
  const own = listAll(home, CHECKED);
  const code = own.filter((name) => name.startsWith("plugins/")).map((name) => join(home, name));
  const imported = importedBy(code)
    .filter((file) => existsSync(file))
    .sort();
  return new Set([...own, ...imported.map((file) => relative(home, file))]);
}

/** The files below a folder, or the file itself: relative to the root, sorted; none when it does not exist. */
function listFiles(root: string, place: string): string[] {
  if (!existsSync(join(root, place))) return [];
  if (/\.json$/.test(place)) return [place];
  const entries = readdirSync(join(root, place), { withFileTypes: true });
  return entries
    .flatMap((entry) => {
      const name = `${place}/${entry.name}`;
      return entry.isDirectory() ? listFiles(root, name) : [name];
    })
    .sort();
}
