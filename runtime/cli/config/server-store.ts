import { accessSync } from "node:fs";
import { join } from "node:path";
import { Problem } from "../../api/problem.ts";
import { hasLoneLog } from "../../drivers/folder.ts";
import type { OpenStore } from "../../drivers/store/keyv.ts";
import { openStore, storeFileOf } from "../../drivers/store/open-store.ts";
import { type Config, loadConfig } from "./config.ts";

/** The part of the configuration that locates the store. */
export type StorePlace = Pick<Config, "dataDir" | "redisUrl">;

/**
 * Opens the store of a server, which may be running.
 * @throws Problem `bad-request` when there is none; `unavailable` when it cannot be opened.
 */
export async function openServerStore(place: StorePlace): Promise<OpenStore> {
  requireStore(place);
  return openStore(place);
}

/** Where the server of this environment keeps its store. When only a sandbox has one: that, and a line on stderr. */
export function loadStorePlace(): StorePlace {
  const { dataDir, redisUrl } = loadConfig();
  if (!hasSandboxOnly({ dataDir, redisUrl })) return { dataDir, redisUrl };
  console.error("The sandbox's: play money.");
  return { dataDir: join(dataDir, "sandbox"), redisUrl };
}

/** Whether a sandbox has kept its store in this place, and no server has kept one. */
export const hasSandboxOnly = ({ dataDir, redisUrl }: StorePlace): boolean =>
  redisUrl === undefined && !hasStore(dataDir) && hasStore(join(dataDir, "sandbox"));

/**
 * @throws Problem `bad-request` when there is no store: a new, empty one would falsely show that nothing is open;
 *   `unavailable` when this user cannot know.
 */
export function requireStore({ dataDir, redisUrl }: StorePlace): void {
  if (redisUrl !== undefined || hasStore(dataDir)) return;
  throw new Problem("bad-request", `There is no store in ${dataDir}: ${WHERE}`);
}

/**
 * Whether there is a store, or what is left of one: who opens that is told so.
 * @throws Problem `unavailable` when this user cannot know
 */
export function hasStore(dataDir: string): boolean {
  const file = storeFileOf(dataDir);
  return isThere(file) || hasLoneLog(file);
}

function isThere(file: string): boolean {
  try {
    accessSync(file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw new Problem(
      "unavailable",
      `${file} cannot be reached (${code}): is PAYPHONE_DATA_DIR right, and is this the server's user?`,
    );
  }
}

const WHERE =
  "change to the shop's folder, or set PAYPHONE_DATA_DIR or REDIS_URL as the server has it; a sandbox keeps its own in the folder sandbox of the data directory";
