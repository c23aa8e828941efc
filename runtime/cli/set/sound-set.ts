import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";

/**
 * Beside the state of a server: the digest of the last set that it found sound. As long as nothing changes that the
 * checks read or run, no start has to compile all schemas and try all examples again: a quarter of its work.
 */
const FILE = "sound-set";

const ROOT = join(import.meta.dirname, "../../..");
/** What checks, and with which versions of which packages. */
const CHECKING = ["package.json", "runtime", "schemas/manifest.json", "schemas/site.json"];
/** What is checked; plugins check the examples, too. */
const CHECKED = ["package.json", "manifests", "plugins", "schemas"];

/**
 * SHA-256 of every file that decides whether a directory is sound, payphone's own among them. Undefined when one cannot be
 * read, or is a link to a folder: then nothing is known of the set.
 */
export function digestSet(dir: string): string | undefined {
  const hash = createHash("sha256").update(process.version);
  try {
    for (const [root, places] of [[ROOT, CHECKING] as const, [dir, CHECKED] as const])
      for (const name of places.flatMap((place) => listFiles(root, place))) {
        const content = readFileSync(join(root, name));
        hash.update(JSON.stringify([name, content.length])).update(content);
      }
    return hash.digest("hex");
  } catch {
    return undefined;
  }
}

/** Undefined while nothing is noted, or what is noted cannot be read: then everything is checked. */
export const readSoundSet = (dataDir: string): Promise<string | undefined> =>
  readFile(join(dataDir, FILE), "utf8").catch(() => undefined);

/** A note that cannot be written, or is torn, costs the next start its time, and nothing else. */
export const noteSoundSet = (dataDir: string, digest: string): Promise<void> =>
  writeFile(join(dataDir, FILE), digest).catch(() => {});

/** The files of a folder, or the file itself, relative to the root and always in the same order; none when it is not there. */
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
