import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Clock, Log } from "../../../api/capabilities.ts";
import { unlessDamaged } from "../../../core/damage.ts";
import { isObject } from "../../../core/json.ts";
import type { Store } from "../../../core/store.ts";

/** A process that sells from a store. */
export interface Presence {
  readonly host: string;
  readonly pid: number;
  readonly version: string;
  /** The digest of the set that the process sells. */
  readonly set: string;
  /** The URL at which buyers reach the process. */
  readonly url: string;
  /** ISO 8601. */
  readonly since: string;
}

/** Announces this process and its set to the other processes on the same store. */
export interface PresenceBoard {
  start(): void;
  /** Announces this process anew, because it sells another set. Does not fail. */
  tell(): Promise<void>;
  /** All processes on the store, this one included; it alone while the store does not answer. */
  list(): Promise<readonly Presence[]>;
  close(): Promise<void>;
}

export interface PresenceDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  /** The current facts about this process. */
  readonly describe: () => Pick<Presence, "version" | "set" | "url">;
}

const PREFIX = "process:";
const RENEW_MS = 10_000;
/** How long a process that died is still listed. */
const TTL_MS = 35_000;

export function createPresenceBoard({ store, clock, log, describe }: PresenceDeps): PresenceBoard {
  const key = PREFIX + randomUUID();
  const fixed = { host: hostname(), pid: process.pid, since: new Date(clock.now()).toISOString() };
  const own = (): Presence => ({ ...fixed, ...describe() });
  const tell = (): Promise<void> =>
    store.set(key, own(), TTL_MS, "lazy").catch((error: unknown) => log.info("process.not-listed", { error }));
  let timer: NodeJS.Timeout | undefined;

  return {
    start() {
      void tell();
      timer = setInterval(tell, RENEW_MS).unref();
    },
    tell,
    async list() {
      const found = [own(), ...(await readOthers().catch(() => []))];
      return found.sort((one, two) => one.since.localeCompare(two.since) || one.pid - two.pid);
    },
    async close() {
      clearInterval(timer);
      await store.delete(key, "lazy").catch(() => undefined); // The entry expires by itself.
    },
  };

  async function readOthers(): Promise<readonly Presence[]> {
    const found: Presence[] = [];
    for await (const name of store.keys(PREFIX)) {
      const presence = name === key ? undefined : await store.get<unknown>(name).catch(unlessDamaged);
      if (isPresence(presence)) found.push(presence);
    }
    return found;
  }
}

/** Another version may write others. */
const isPresence = (record: unknown): record is Presence =>
  isObject(record) &&
  typeof record.pid === "number" &&
  ["host", "version", "set", "url", "since"].every((name) => typeof record[name] === "string");
