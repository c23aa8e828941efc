import { join } from "node:path";
import type { Log } from "../../api/capabilities.ts";
import type { OpenStore } from "./keyv.ts";
import { openRedisStore } from "./redis.ts";
import { openSqliteStore } from "./sqlite.ts";

export interface StoreOptions {
  /** When set, state lives in Redis and nothing is written to the disk. */
  readonly redisUrl?: string | undefined;
  /** The folder of the embedded store; created for this user alone. */
  readonly dataDir: string;
  /** Told of what Redis may lose. */
  readonly log?: Log;
}

const NAMESPACE = "payphone";

/** The file of the embedded store. */
export const storeFileOf = (dataDir: string): string => join(dataDir, "payphone.sqlite");

/** Opens the store that is configured. @throws Problem `unavailable` with the reason why it cannot be opened. */
export async function openStore({ redisUrl, dataDir, log }: StoreOptions): Promise<OpenStore> {
  if (redisUrl === undefined) return openSqliteStore({ file: storeFileOf(dataDir) });
  return openRedisStore({ url: redisUrl, namespace: NAMESPACE, log });
}
