import { isUtf8 } from "node:buffer";
import { existsSync } from "node:fs";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Fault, FaultCode, SourceFile } from "../../core/set/faults.ts";
import { GRAMMARS } from "../../core/set/grammar.ts";
import { readJson } from "./read-json.ts";
import { type Reading, readYaml } from "./read-yaml.ts";

/** The files of a served directory, as far as they could be read. */
export interface Files {
  readonly site?: SourceFile;
  readonly manifests: readonly SourceFile[];
  /** By name; the data of a file that is not JSON is undefined. */
  readonly schemas: ReadonlyMap<string, SourceFile>;
  readonly faults: readonly Fault[];
}

const SITE = "_site.yaml";
/** The largest file: a thousand times the usual size. */
const MOST_BYTES = 4_000_000;
/** In payphone's own directory, the schemas of manifests are beside the schemas of services. */
const OWN_SCHEMAS = ["manifest.json", "recording.json", "site.json"];
const IGNORED = /^\.|\.md$|^generated$/;
/** Swap files, locks and backups: of vim (`.toss.ts.swp`, `4913`), Emacs (`#toss.ts#`, `toss.ts~`), JetBrains, macOS. */
const OF_EDITORS = /^\..+\.sw[a-p]$|^4913$|~$|^\.?#|___jb_(?:tmp|old)___$|^\.DS_Store$/;

/** Whether an editor writes such a file beside the one that is edited, for a moment or for ever. */
export const isOfEditor = (name: string): boolean => OF_EDITORS.test(name);

/** Whether an entry of `manifests/` or `schemas/` is ignored. */
export const isIgnored = (name: string): boolean => IGNORED.test(name) || isOfEditor(name);

/** Reads `manifests/*.yaml` and `schemas/*.json`. */
export async function readSet(dir: string): Promise<Files> {
  const [manifests, schemas] = await Promise.all([
    readFolder(dir, "manifests", ".yaml", readYaml),
    readFolder(dir, "schemas", ".json", readJson),
  ]);
  const faults = [...manifests.faults, ...schemas.faults];
  if (!manifests.names.includes(SITE)) {
    const message = existsSync(dir)
      ? "there is no such file; it says what is true of every service: begin with that of a new shop (payphone init)"
      : `there is no directory ${dir}`;
    faults.push(toFileFault(`manifests/${SITE}`, "missing-file", message));
  }
  const named = schemas.names.filter((file) => !OWN_SCHEMAS.includes(file));
  for (const file of named) {
    const complaint = GRAMMARS["schema-name"]?.explain(toName(file));
    if (complaint) faults.push(toFileFault(`schemas/${file}`, "bad-schema-name", complaint));
  }
  const site = manifests.sources.get(SITE);
  return {
    ...(site && { site }),
    manifests: [...manifests.sources].filter(([file]) => file !== SITE).map(([, source]) => source),
    schemas: new Map(named.map((file) => [toName(file), schemas.sources.get(file) ?? toUnread(file)])),
    faults,
  };
}

const toName = (file: string): string => file.replace(/\.json$/, "");

const toUnread = (file: string): SourceFile => ({
  file: `schemas/${file}`,
  data: undefined,
  locate: () => ({ line: 1, column: 1 }),
});

type Read = (file: string, text: string) => Reading;

interface Folder {
  readonly names: readonly string[];
  readonly sources: ReadonlyMap<string, SourceFile>;
  readonly faults: readonly Fault[];
}

async function readFolder(dir: string, folder: string, extension: string, read: Read): Promise<Folder> {
  const all = (await list(join(dir, folder))).filter((name) => !isIgnored(name));
  const names = all.filter((name) => name.endsWith(extension));
  const faults = all
    .filter((name) => !names.includes(name))
    .map((name) => toFileFault(`${folder}/${name}`, "unexpected-file", `only ${extension} files are read here`));
  const readings = await Promise.all(names.map((name) => readOne(dir, `${folder}/${name}`, read)));
  const sources = new Map<string, SourceFile>();
  for (const [at, { source, faults: own }] of readings.entries()) {
    if (source) sources.set(names[at] as string, source);
    faults.push(...own);
  }
  return { names, sources, faults };
}

async function readOne(dir: string, file: string, read: Read): Promise<Reading> {
  const refuse = (message: string): Reading => ({ faults: [toFileFault(file, "unexpected-file", message)] });
  try {
    const found = await stat(join(dir, file));
    if (found.isDirectory()) return refuse("is a folder; a file is read here");
    if (!found.isFile()) return refuse("is no file that can be read: it may never end");
    if (found.size > MOST_BYTES) return refuse(`has ${found.size} bytes; ${MOST_BYTES} at most are read`);
    const bytes = await readFile(join(dir, file));
    if (!isUtf8(bytes)) return refuse("is not in UTF-8");
    return read(file, bytes.toString());
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    return refuse(`cannot be read (${code})`);
  }
}

/** The names in a folder, sorted; none when there is no such folder. */
async function list(folder: string): Promise<string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return [];
    throw error;
  }
}

const toFileFault = (file: string, code: FaultCode, message: string): Fault => ({
  file,
  line: 1,
  column: 1,
  code,
  message,
});
