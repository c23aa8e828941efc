import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { silentLog } from "../../core/silent-log.ts";
import type { OpenStore } from "./keyv.ts";
import { openRedisStore } from "./redis.ts";
import { openSqliteStore } from "./sqlite/sqlite.ts";

export interface StoreOptions {
  /** When set, state is kept in Redis and nothing is written to disk. */
  readonly redisUrl?: string | undefined;
  /** The folder of the embedded store; created with access for this user alone. */
  readonly dataDir: string;
  /** Logs what Redis may lose, once that payphone waits for Redis, and that the embedded book cannot be read. */
  readonly log?: Log;
  /** How long to wait for a Redis that is still starting, in milliseconds; 0 by default. */
  readonly patienceMs?: number;
}

/** The prefix of every key in Redis. */
export const NAMESPACE = "payphone";
const AGAIN_MS = 250;

/** The file of the embedded store. */
export const storeFileOf = (dataDir: string): string => join(dataDir, "payphone.sqlite");

/** Opens the configured store. @throws Problem `unavailable` with the reason when it cannot be opened. */
export async function openStore(options: StoreOptions): Promise<OpenStore> {
  const { redisUrl, dataDir, log = silentLog, patienceMs = 0 } = options;
  if (redisUrl === undefined) return openSqliteStore({ file: storeFileOf(dataDir), log });
  const givenUp = performance.now() + patienceMs;
  for (let isFirst = true; ; isFirst = false)
    try {
      return await openRedisStore({ url: redisUrl, namespace: NAMESPACE, log });
    } catch (error) {
      if (!isAway(error) || performance.now() >= givenUp) throw error;
      if (isFirst) log.warn("store.awaited", { error, seconds: patienceMs / 1000 });
      await setTimeout(AGAIN_MS);
    }
}

/** A Problem with a cause means that Redis is unreachable; one without, that Redis is unfit and waiting is useless. */
const isAway = (error: unknown): boolean => error instanceof Problem && error.options.cause !== undefined;
