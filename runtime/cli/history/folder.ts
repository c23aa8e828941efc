import { randomUUID } from "node:crypto";
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import { basename, dirname, join, relative, sep } from "node:path";
import { Problem } from "../../api/problem.ts";
import { sha256 } from "../../core/digest.ts";
import { makeFolder } from "../../drivers/folder.ts";
import { filesBelow, isFile } from "../set/plugins/files.ts";
import { importedBy } from "../set/plugins/versions.ts";
import { isIgnored, isOfEditor } from "../set/read-set.ts";

/** All files that define a set, read at one moment. */
export interface SetFolder {
  /** The digest of the files' names and contents: 16 hex digits. */
  readonly digest: string;
  /** By path relative to the shop's folder, with `/`. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** The digest of each file, by path; a word for an entry that is not a file. */
  readonly digests: ReadonlyMap<string, string>;
}

/** The folders of a shop. */
export const PLACES = ["manifests", "plugins", "schemas"];
/** Folders whose entries must all be files; any other entry is a fault. */
const READ = ["manifests", "schemas"];
const DIGITS = 16;
const MOST_BYTES = 256_000_000;

/**
 * Reads a shop's files: manifests, schemas, plugins, other files that plugins import from the shop, and its
 * package.json.
 */
export function readFolder(given: string): SetFolder {
  const dir = realpathSync(given); // Node also names imported files by their real paths.
  const own = PLACES.flatMap((place) => listFiles(dir, place));
  const code = own.filter((name) => name.startsWith("plugins/")).map((name) => join(dir, name));
  const imported = importedBy(code).map((file) => toName(dir, file));
  const others = imported.filter((name) => !name.startsWith("..") && existsSync(join(dir, name)));
  const kept = keptFiles(dir);
  const names = [...new Set([...own, ...others, ...listFiles(dir, "package.json")])]
    .filter((name) => !kept || kept.has(name) || DEFINING.test(name))
    .sort();
  refuseMuch(dir, names);
  const files = new Map(names.map((name) => [name, readFileSync(join(dir, name))]));
  const digests = new Map([...files].map(([name, content]) => [name, sha256(content)]));
  for (const name of READ.flatMap((place) => listNoFiles(dir, place))) digests.set(name, "no file");
  return { digest: toDigest([...digests]), files, digests };
}

type Digest = readonly [name: string, digest: string];

const toDigest = (digests: readonly Digest[]): string => sha256(JSON.stringify(digests)).slice(0, DIGITS);

/** The same; undefined when a file cannot be read. */
export function tryReadFolder(dir: string): SetFolder | undefined {
  try {
    return readFolder(dir);
  } catch {
    return undefined;
  }
}

/**
 * Limits the files, since all are held in memory for a moment and kept for each set that is sold. @throws Problem
 * `bad-request`.
 */
function refuseMuch(dir: string, names: readonly string[]): void {
  const sizes = names.map((name) => ({ name, size: statSync(join(dir, name)).size }));
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0);
  if (bytes <= MOST_BYTES) return;
  const [largest] = sizes.sort((one, two) => two.size - one.size);
  throw new Problem(
    "bad-request",
    `The files of the shop have ${toMegabytes(bytes)} MB, and ${toMegabytes(MOST_BYTES)} MB at most are read; the largest is ${largest?.name} with ${toMegabytes(largest?.size ?? 0)} MB`,
  );
}

const toMegabytes = (bytes: number): number => Math.round(bytes / 1_000_000);

/** Writes the files into a folder that takes its name when all are there. A power cut may still leave empty ones. */
export async function writeFolder(target: string, { files, digests }: SetFolder): Promise<void> {
  const list = `${target}${LIST}`;
  const writeList = (): Promise<void> => writeFile(list, JSON.stringify([...digests]), { mode: 0o600 });
  if (existsSync(target)) return existsSync(list) ? undefined : writeList(); // Earlier versions have kept no list.
  const draft = `${target}.${randomUUID()}`;
  try {
    makeFolder(draft, 0o700);
    for (const [name, content] of files) {
      makeFolder(dirname(join(draft, name)));
      await writeFile(join(draft, name), content);
    }
    await writeList();
    await rename(draft, target);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    if (!existsSync(target)) throw error; // Another process has written the same set.
  }
}

/**
 * What keeps the copy of a set from being sold: `<file> was changed`; undefined when nothing does. Files that a plugin has
 * written beside its code since do not.
 */
export function damageOf(dir: string, digest: string): string | undefined {
  try {
    const kept = keptFiles(dir);
    const all = [...filesBelow(dir, ({ name }) => !isOfEditor(name))].map((file) => toName(dir, file));
    const names = (kept ? all.filter((name) => kept.has(name) || DEFINING.test(name)) : all).sort();
    const now = names.map((name): Digest => [name, sha256(readFileSync(join(dir, name)))]);
    if (toDigest(now) === digest) return undefined;
    const found = new Map(now);
    const missing = [...(kept?.keys() ?? [])].find((name) => !found.has(name));
    if (missing !== undefined) return `${missing} is missing`;
    const other = kept && now.find(([name, sum]) => kept.get(name) !== sum);
    return other ? `${other[0]} was ${kept?.has(other[0]) ? "changed" : "added"}` : "some were changed";
  } catch (error) {
    return `it cannot be read (${(error as NodeJS.ErrnoException).code})`;
  }
}

/** Files that are part of a set wherever they stand; others are only when something of the set names them. */
const DEFINING = /^(?:manifests|schemas)\/|^package\.json$/;

/** The list of a kept set's files, which is beside its folder; undefined for a folder without a list. */
function keptFiles(dir: string): ReadonlyMap<string, string> | undefined {
  try {
    const text = readFileSync(`${dir}${LIST}`, "utf8");
    return basename(dir) === sha256(text).slice(0, DIGITS) ? new Map(JSON.parse(text) as readonly Digest[]) : undefined;
  } catch {
    return undefined;
  }
}

/** The ending of the list's name, which begins with the name of the set's folder. */
export const LIST = ".files";

const toName = (dir: string, file: string): string => relative(dir, file).replaceAll(sep, "/");

/** The files below a folder, or the file itself: relative to `dir`, with `/`. What editors leave is skipped. */
function listFiles(dir: string, place: string): readonly string[] {
  const path = join(dir, place);
  if (!existsSync(path)) return [];
  if (place.endsWith(".json")) return [place];
  const files = filesBelow(path, ({ name }) => !isOfEditor(name));
  return [...files].map((file) => toName(dir, file));
}

/**
 * The entries of a place that are not files, such as folders or pipes. They make the set a different one, with a fault.
 */
function listNoFiles(dir: string, place: string): readonly string[] {
  if (!existsSync(join(dir, place))) return [];
  const names = readdirSync(join(dir, place)).filter((name) => !isIgnored(name));
  return names.map((name) => `${place}/${name}`).filter((name) => !isFile(join(dir, name)));
}
