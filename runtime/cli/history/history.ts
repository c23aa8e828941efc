import { randomUUID } from "node:crypto";
import { appendFile, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { makeFolder } from "../../drivers/folder.ts";
import type { Change } from "./change.ts";
import { isWhole, type SetFolder, writeFolder } from "./folder.ts";
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
  /** The retired services. */
  retired(): Promise<readonly RetiredEntry[]>;
  /** Replaces the retired services. */
  setRetired(entries: readonly RetiredEntry[]): Promise<void>;
  /** Records that a set is sold from now on, and deletes the files of the oldest sets that are not needed. */
  add(entry: HistoryEntry): Promise<void>;
}

/** How many different sets are kept. */
const MOST_KEPT = 20;

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
  const retired = async (): Promise<readonly RetiredEntry[]> =>
    JSON.parse(await readText(retiredFile, "[]")) as readonly RetiredEntry[];

  return {
    list,
    retired,
    async setRetired(entries) {
      makeFolder(root, 0o700);
      const draft = `${retiredFile}.${randomUUID()}`;
      await writeFile(draft, JSON.stringify(entries), { mode: 0o600, flush: true });
      await rename(draft, retiredFile);
    },
    last: async () => (await list()).at(-1),
    async keep(folder) {
      const path = join(root, folder.digest);
      if (!isWhole(path, folder.digest)) await rm(path, { recursive: true, force: true });
      await writeFolder(path, folder);
    },
    async find(digest) {
      const path = join(root, digest);
      return /^[0-9a-f]{16}$/.test(digest) && isWhole(path, digest) ? path : undefined;
    },
    async add(entry) {
      makeFolder(root, 0o700);
      const isCutOff = /[^\n]$/.test(await readText(file)); // A crash has cut off the last line: start a new one.
      await appendFile(file, `${isCutOff ? "\n" : ""}${JSON.stringify(entry)}\n`, { mode: 0o600 });
      const recent = [...new Set((await list()).map(({ digest }) => digest).reverse())].slice(0, MOST_KEPT);
      const needed = new Set([...recent, ...(await retired()).map(({ digest }) => digest)]);
      const names = (await readdir(root)).filter((name) => /^[0-9a-f]{16}$/.test(name) && !needed.has(name));
      for (const name of names) await rm(join(root, name), { recursive: true, force: true });
    },
  };
}

/** @param absent returned when there is no such file. */
const readText = (path: string, absent = ""): Promise<string> =>
  readFile(path, "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return absent;
    throw new Problem("unavailable", `${path} cannot be read (${error.code})`, { cause: error });
  });

/** A line that a crash has cut off is skipped. */
function parse(line: string): readonly HistoryEntry[] {
  try {
    return line === "" ? [] : [JSON.parse(line) as HistoryEntry];
  } catch {
    return [];
  }
}
