import { randomUUID } from "node:crypto";
import { type FileHandle, link, open, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname } from "node:path";
import { Problem } from "../../api/problem.ts";
import { makeFolder } from "../folder.ts";

/** The record of an identity that payphone has created. */
export interface IdentityRecord {
  readonly keys: readonly {
    /** PKCS #8 DER in base64. */
    readonly private_key: string;
    /** Unix seconds. */
    readonly signs_from: number;
  }[];
}

/** Where the record is kept. */
export interface IdentityShelf {
  /** The place's name in errors. */
  readonly name: string;
  /** undefined when there is none. */
  read(): Promise<unknown>;
  /** Stores a record unless there is one: the first of several processes wins. */
  putIfAbsent(record: IdentityRecord): Promise<boolean>;
  replace(record: IdentityRecord): Promise<void>;
}

/** The record in a file that only this user can read. The file is written atomically. */
export function createIdentityFile(file: string): IdentityShelf {
  return {
    name: file,
    read: () => reach(file, () => read(file)),
    putIfAbsent: (record) =>
      reach(file, () =>
        withDraft(file, record, async (draft) => {
          try {
            await link(draft, file); // Fails when the file exists, unlike a rename.
            return true;
          } catch (error) {
            if (codeOf(error) === "EEXIST") return false;
            throw error;
          }
        }),
      ),
    replace: (record) => reach(file, () => withDraft(file, record, (draft) => rename(draft, file))),
  };
}

async function read(file: string): Promise<unknown> {
  try {
    return JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    if (error instanceof SyntaxError) return null; // Damaged: the caller reports it.
    throw error;
  }
}

async function withDraft<T>(file: string, record: IdentityRecord, use: (draft: string) => Promise<T>): Promise<T> {
  makeFolder(dirname(file), 0o700);
  const draft = `${file}.${randomUUID()}`;
  try {
    await using handle = await open(draft, "wx", 0o600);
    await keepOwner(handle, dirname(file));
    await handle.writeFile(`${JSON.stringify(record, null, 2)}\n`);
    await handle.sync();
    return await use(draft);
  } finally {
    await rm(draft, { force: true });
  }
}

/** Gives what root writes, as in `payphone peer rotate`, to the user of the folder: the server may run as that user. */
async function keepOwner(handle: FileHandle, folder: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = await stat(folder);
  await handle.chown(uid, gid);
}

async function reach<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw new Problem("unavailable", `${file} cannot be read or written (${codeOf(cause) ?? cause})`, { cause });
  }
}

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;
