import { randomUUID } from "node:crypto";
import { existsSync, statSync } from "node:fs";
import { appendFile, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { isObject, tryParseJson } from "../../core/json.ts";
import { makeFolder } from "../../drivers/folder.ts";
import type { Change } from "./change.ts";
import { damageOf, LIST, type SetFolder, writeFolder } from "./folder.ts";
import type { RetiredEntry } from "./retired.ts";

/** A set, and when it began to be sold. */
export interface HistoryEntry {
  readonly digest: string;
  /** ISO 8601. */
  readonly at: string;
  /** Who made the change: a user of this machine, or `start`, `signal`, `watch`. */
  readonly by: string;
  readonly what: "start" | "apply" | "rollback";
  /** The differences from the previous set. */
  readonly changes: readonly Change[];
  /** After a rollback: the digest of the shop's folder, which is not sold again while it stays unchanged. */
  readonly refused?: string;
}

/** The sets that were sold, and their files, in the data directory of one machine. */
export interface History {
  /** Oldest first. Entries that cannot be read are skipped. */
  list(): Promise<readonly HistoryEntry[]>;
  /** The set that was sold last. */
  last(): Promise<HistoryEntry | undefined>;
  /** Keeps the files of a set that is about to be sold, also in the place of a damaged copy. */
  keep(folder: SetFolder): Promise<void>;
  /** The folder with a set's files; undefined when they are not kept any more, or are not those that were sold. */
  find(digest: string): Promise<string | undefined>;
  /** Why `find` does not find a set: a sentence without a full stop. */
  explain(digest: string): string;
  /** The retired services. @throws Problem `unavailable` when their file cannot be read, or is no list of them. */
  retired(): Promise<readonly RetiredEntry[]>;
  /** Replaces the retired services. A file that is no list of them keeps its content, under another name. */
  setRetired(entries: readonly RetiredEntry[]): Promise<void>;
  /** Records that a set is sold from now on, and deletes the files of the oldest sets, and drafts that a crash has left. */
  add(entry: HistoryEntry): Promise<void>;
}

/** How many different sets are kept. */
const MOST_KEPT = 20;

/** What takes its name once it is written whole. */
const DRAFT = /^(?:[0-9a-f]{16}|retired\.json)\.[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
/** No process is still writing a draft that is older. */
const OLD_MS = 3_600_000;

/** The history in a data directory, whose folder is created when needed. */
export function createHistory(dataDir: string): History {
  const root = join(dataDir, "sets");
  const file = join(root, "history.jsonl");

  /** Two processes that change at the same moment may both add the entry. */
  const list = async (): Promise<readonly HistoryEntry[]> =>
    (await readText(file))
      .split("\n")
      .flatMap(parse)
      .filter(({ digest }, at, all) => digest !== all[at - 1]?.digest);

  const retiredFile = join(root, "retired.json");
  const readRetired = async (): Promise<readonly RetiredEntry[] | undefined> =>
    toRetired(await readText(retiredFile, "[]"));
  const retired = async (): Promise<readonly RetiredEntry[]> => {
    const entries = await readRetired();
    if (entries) return entries;
    throw new Problem("unavailable", `${retiredFile} is no list of retired services, as payphone writes it`);
  };
  const isKept = (digest: string): boolean => /^[0-9a-f]{16}$/.test(digest) && existsSync(join(root, digest));

  return {
    list,
    retired,
    async setRetired(entries) {
      makeFolder(root, 0o700);
      if (!(await readRetired())) await rename(retiredFile, `${retiredFile}.damaged-${Date.now()}`);
      const draft = `${retiredFile}.${randomUUID()}`;
      await writeFile(draft, JSON.stringify(entries), { mode: 0o600, flush: true });
      await rename(draft, retiredFile);
    },
    last: async () => (await list()).at(-1),
    async keep(folder) {
      const path = join(root, folder.digest);
      if (damageOf(path, folder.digest) !== undefined) await rm(path, { recursive: true, force: true });
      await writeFolder(path, folder);
    },
    async find(digest) {
      const path = join(root, digest);
      return isKept(digest) && damageOf(path, digest) === undefined ? path : undefined;
    },
    explain(digest) {
      const path = join(root, digest);
      return isKept(digest)
        ? `${path} does not hold the files that were sold as the set ${digest}: ${damageOf(path, digest)}`
        : `The files of the set ${digest} are not kept any more`;
    },
    async add(entry) {
      makeFolder(root, 0o700);
      const isCutOff = /[^\n]$/.test(await readText(file)); // A crash has cut off the last line: start a new one.
      await appendFile(file, `${isCutOff ? "\n" : ""}${JSON.stringify(entry)}\n`, { mode: 0o600 });
      const recent = [...new Set((await list()).map(({ digest }) => digest).reverse())].slice(0, MOST_KEPT);
      const needed = new Set([...recent, ...(await retired()).map(({ digest }) => digest)]);
      const all = await readdir(root);
      const names = all.filter((name) => /^[0-9a-f]{16}$/.test(name) && !needed.has(name));
      const left = all.filter((name) => DRAFT.test(name) && isOld(join(root, name)));
      for (const path of [...names.flatMap((name) => [name, `${name}${LIST}`]), ...left])
        await rm(join(root, path), { recursive: true, force: true });
    },
  };
}

const isOld = (path: string): boolean =>
  Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? Date.now()) > OLD_MS;

/** @param absent returned when there is no such file. */
const readText = (path: string, absent = ""): Promise<string> =>
  readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return absent;
    const why = `(${error.code}): is PAYPHONE_DATA_DIR right, and is this the server's user?`;
    throw new Problem("unavailable", `${path} cannot be read ${why}`, { cause: error });
  });

/** A line that a crash has cut off is skipped, and so is one that something else has written. */
function parse(line: string): readonly HistoryEntry[] {
  const entry = tryParseJson(line);
  const isEntry = isObject(entry) && ["digest", "at", "by", "what"].every((name) => typeof entry[name] === "string");
  return isEntry && Array.isArray(entry.changes) ? [entry as unknown as HistoryEntry] : [];
}

function toRetired(text: string): readonly RetiredEntry[] | undefined {
  const entries = tryParseJson(text);
  const isEntry = (entry: unknown): boolean =>
    isObject(entry) &&
    typeof entry.id === "string" &&
    typeof entry.digest === "string" &&
    typeof entry.until === "number" &&
    Array.isArray(entry.routes);
  return Array.isArray(entries) && entries.every(isEntry) ? entries : undefined;
}
