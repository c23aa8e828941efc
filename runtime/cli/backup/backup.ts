import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { Problem } from "../../api/problem.ts";
import { keepOwner, makeFile, makeFolder } from "../../drivers/folder.ts";
import { checkIdentityFile } from "../../drivers/peers/identity.ts";
import { storeFileOf } from "../../drivers/store/open-store.ts";
import { type BackupContents, copySqlite, inspectSqlite, unpackSqlite } from "../../drivers/store/sqlite/backup.ts";
import { requireStore, type StorePlace } from "../config/server-store.ts";

export interface BackupReport {
  readonly file: string;
  readonly entries: number;
  readonly bytes: number;
  /** Whether it contains the agent's identity key. */
  readonly hasIdentity: boolean;
}

export interface RestoreReport extends BackupReport {
  /** Whether root has made the data directory, so that no other user can read it. */
  readonly isOfRoot: boolean;
}

const IDENTITY = "a2a-identity.json";
const REDIS =
  "The state is in Redis (REDIS_URL): back that Redis up with its own means (BGSAVE, or its append-only file)";

/**
 * Copies the state of a shop into one file that only this user can read. The shop may go on selling meanwhile.
 * @throws Problem `bad-request` when there is no state, or the file exists already; `unavailable` when it cannot be
 *   written, or the identity key is damaged.
 */
export function backUp({ dataDir, redisUrl }: StorePlace, to: string): BackupReport {
  if (redisUrl !== undefined) throw new Problem("bad-request", REDIS);
  const file = resolve(to);
  const store = storeFileOf(dataDir);
  requireStore({ dataDir, redisUrl });
  if (existsSync(file)) throw new Problem("bad-request", `${file} exists already: name a new file`);
  const identity = join(dataDir, IDENTITY);
  const beside = existsSync(identity) ? readFileSync(identity, "utf8") : undefined;
  if (beside !== undefined) checkIdentityFile(beside, identity);
  const draft = `${file}.part`;
  return attempt("The backup was not made", [draft], () => {
    rmSync(draft, { force: true });
    writeFileSync(draft, "", { mode: 0o600 });
    const { entries } = copySqlite(store, draft, beside);
    renameSync(draft, file);
    return { file, entries, bytes: statSync(file).size, hasIdentity: beside !== undefined };
  });
}

/**
 * Restores a backup to a place that has no state.
 * @throws Problem `bad-request` when there is a state already, or the file is not a backup; `unavailable` otherwise.
 */
export function restore({ dataDir, redisUrl }: StorePlace, from: string): RestoreReport {
  if (redisUrl !== undefined) throw new Problem("bad-request", REDIS);
  const [file, store] = [resolve(from), storeFileOf(dataDir)];
  const identity = join(dataDir, IDENTITY);
  // SQLite would apply the log of a lost store to the restored one, and damage it.
  for (const taken of [store, `${store}-wal`, `${store}-journal`, identity])
    if (existsSync(taken))
      throw new Problem("bad-request", `${taken} exists already: stop the server and move ${dataDir} away first`);
  refuseOthers(file);
  const draft = `${store}.part`;
  const isOfRoot = process.getuid?.() === 0 && !existsSync(dataDir);
  const made = [draft];
  return attempt("Nothing was restored", made, () => {
    makeFolder(dataDir, 0o700);
    copyFileSync(file, draft);
    chmodSync(draft, 0o600);
    keepOwner(draft);
    const { entries, beside } = unpackSqlite(draft);
    if (beside !== undefined && makeFile(identity, beside)) made.push(identity);
    renameSync(draft, store);
    return { file, entries, bytes: statSync(store).size, hasIdentity: beside !== undefined, isOfRoot };
  });
}

/** @throws Problem `bad-request` unless the file is a complete backup. */
function refuseOthers(file: string): BackupContents {
  try {
    return inspectSqlite(file);
  } catch (error) {
    throw new Problem("bad-request", `${file} is no whole backup of payphone: ${(error as Error).message}`);
  }
}

/** @param made the files that are removed when the work fails */
function attempt<T>(failure: string, made: readonly string[], work: () => T): T {
  try {
    return work();
  } catch (error) {
    for (const file of made) rmSync(file, { force: true });
    throw new Problem("unavailable", `${failure}: ${(error as Error).message}`, { cause: error });
  }
}
