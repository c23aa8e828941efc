import { randomUUID } from "node:crypto";
import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { silentLog } from "../../core/silent-log.ts";
import type { Durability } from "../../core/store.ts";
import { shareRuns } from "../../core/time/share-runs.ts";
import { bookStreamOf, tallyStreamOf } from "../books/streams.ts";
import {
  answered,
  createReconnection,
  PATIENCE_MS,
  refuseSentinel,
  toClientOptions,
  watchConnection,
} from "../redis-client.ts";
import { type OpenStore, type TextAdapter, toStore } from "./keyv.ts";
import { createRedisHealth, lacksRights } from "./redis-health.ts";
import { createRedisLimiters, type LimiterClient } from "./redis-limiter.ts";

export interface RedisStoreOptions {
  /** `redis://` or `rediss://`, with the credentials. */
  readonly url: string;
  /** The prefix of every key, so that a Redis can be shared. */
  readonly namespace: string;
  /** Logs each fault in how Redis keeps its data, and each damaged record, once. */
  readonly log?: Log | undefined;
}

const SCAN_COUNT = 500;
const TRIM_COUNT = 100;
/** How long a replica may take to confirm a write: all that is sent later on the connection waits as long. */
const REPLICA_MS = 1000;

/** Writes unless the key holds another value. */
const RENEW = `
  local known = redis.call("GET", KEYS[1])
  if known and known ~= ARGV[1] then return 0 end
  if ARGV[2] == "" then redis.call("SET", KEYS[1], ARGV[1])
  else redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) end
  return 1`;

const DROP = 'if redis.call("GET", KEYS[1]) == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0';

/** Returns the sum, or nothing when the value is not an integer. The time to live runs from the first increment. */
const INCR = `
  local known = redis.call("GET", KEYS[1])
  if known and not string.match(known, "^%-?%d+$") then return false end
  local sum = redis.call("INCRBY", KEYS[1], ARGV[1])
  if not known and ARGV[2] ~= "" then redis.call("PEXPIRE", KEYS[1], ARGV[2]) end
  return sum`;

/** A hash of "weight expiry" by member; removes expired members, by Redis's own clock. */
const JOIN = `
  local time = redis.call("TIME")
  local now = time[1] * 1000 + math.floor(time[2] / 1000)
  redis.call("HSET", KEYS[1], ARGV[1], string.format("%s %.0f", ARGV[2], now + ARGV[3]))
  local members, weight, all = 0, 0, redis.call("HGETALL", KEYS[1])
  for at = 1, #all, 2 do
    local one, expires = string.match(all[at + 1], "^(%S+) (%S+)$")
    if tonumber(expires) <= now then redis.call("HDEL", KEYS[1], all[at])
    else members = members + 1; weight = weight + tonumber(one) end
  end
  if redis.call("PTTL", KEYS[1]) < tonumber(ARGV[3]) then redis.call("PEXPIRE", KEYS[1], ARGV[3]) end
  return { members, string.format("%.0f", weight) }`;

/**
 * Enters an event once. The stream is the shop's book; only `forget` trims it. It comes first: when Redis refuses it, the
 * script ends, and what was written before stays.
 */
const ENTER = `
  if redis.call("EXISTS", KEYS[1]) == 0 then
    redis.call("XADD", KEYS[2], "*", "e", ARGV[3])
    redis.call("SET", KEYS[1], "1", "PX", ARGV[4])
  end
  if ARGV[2] == "" then redis.call("SET", KEYS[3], ARGV[1])
  else redis.call("SET", KEYS[3], ARGV[1], "PX", ARGV[2]) end
  return 1`;
/** How long an event's id is remembered: longer than any record that could enter the event again. */
const ENTERED_MS = 100 * 24 * 60 * 60_000;

/** For `catch`: ignores that a key holds something else. @throws every other error. */
function unlessWrongType(error: Error): void {
  if (!error.message.startsWith("WRONGTYPE")) throw error;
}

/**
 * A Store in Redis, for several machines. It is as durable as that Redis: for money, set `appendonly yes` and
 * `appendfsync always`. Where it has `min-replicas-to-write`, a durable write resolves once a replica has it. While Redis is
 * unreachable, every call rejects after two seconds; the store reconnects by itself. While Redis may evict unexpired keys, or
 * accepts no writes, every call rejects, too.
 * @throws Problem `unavailable` when Redis cannot be reached, refuses its user, is a Sentinel, may evict unexpired keys,
 * or accepts no writes.
 */
export async function openRedisStore({ url, namespace, log = silentLog }: RedisStoreOptions): Promise<OpenStore> {
  // Imported on use: loading the package takes 0.1 seconds.
  const { default: KeyvRedis, createClient } = await import("@keyv/redis");
  const reconnection = createReconnection();
  const client = createClient(toClientOptions(url, reconnection));
  const options = { namespace, throwOnConnectError: true, throwOnErrors: true, connectionTimeout: PATIENCE_MS };
  const redis = new KeyvRedis(client, options);
  let outage: unknown;
  // Callers get the errors of their own calls; but an "error" event without a listener would end the process.
  redis.on("error", (error: unknown) => {
    outage = error;
  });
  const mark = `${namespace}-mark`;
  const health = createRedisHealth({
    redis: {
      info: (section) => answered(client.info(section)),
      configGet: (name) => answered(client.configGet(name)),
      mark: () => answered(client.get(mark)),
      count: () => answered(client.incr(`${mark}-count`)),
    },
    log,
  });
  client.on("reconnecting", health.disconnected);
  client.on("ready", health.reconnected);
  try {
    await answered(client.connect());
    refuseSentinel(await answered(client.info("server")));
    await health.examine();
    await answered(client.set(mark, randomUUID(), { condition: "NX" }));
    await answered(client.eval('return redis.call("EXISTS", KEYS[1])', { keys: [mark] }));
    const none = `${mark}-none`; // These find out what the user may do, and change nothing: no such key, and no stream.
    await answered(
      Promise.all([
        client.xAdd(mark, "*", { e: "" }).catch(unlessWrongType),
        client.xRange(none, "-", "+"),
        client.hDel(none, "e"),
        client.scan("0", { COUNT: 1 }),
        health.needsReplicas() && client.wait(0, 0),
      ]),
    );
    await health.recognize();
  } catch (error) {
    health.close();
    reconnection.end(client);
    if (error instanceof Problem) throw error;
    const reason = ((outage ?? error) as Error).message;
    const { host } = new URL(url);
    if (lacksRights(reason))
      throw new Problem("unavailable", `Redis at ${host} refuses what payphone needs: ${reason}`);
    throw new Problem("unavailable", `Redis at ${host} cannot be reached: ${reason}`, { cause: outage ?? error });
  }

  client.on("error", health.failed);
  const watch = watchConnection(client, (error) => {
    health.failed(error);
    health.disconnected();
  });
  const keyOf = (key: string): string => redis.createKeyPrefix(key, namespace);
  /** What was written before is then on a replica, which may become the master. */
  const replicate = shareRuns(async () => {
    if ((await answered(client.wait(1, REPLICA_MS))) === 0)
      throw new Error("No replica has confirmed what was written");
  });
  async function kept<T>(work: Promise<T>, durability: Durability): Promise<T> {
    const value = await work;
    if (durability === "durable" && health.needsReplicas()) await replicate();
    return value;
  }
  const adapt = (durability: Durability): TextAdapter => ({
    get: (key) => answered(redis.get<string>(key)),
    set: (key, text, ttlMs) => kept(answered(redis.set(key, text, ttlMs)), durability),
    delete: (key) => kept(answered(redis.delete(key)), durability),
  });
  /** Gets the client first, as KeyvRedis does, so that calls keep their order. */
  const ask = <T>(command: () => Promise<T>, durability: Durability = "lazy"): Promise<T> =>
    kept(answered(redis.getClient().then(command)), durability);
  /** Deletes some of the entries before a time; true when more may be left. XTRIM knows times since Redis 6.2 only. */
  async function trim(stream: string, before: number): Promise<boolean> {
    if (before <= 0) return false;
    const old = await ask(() => client.xRange(stream, "-", `${before - 1}`, { COUNT: TRIM_COUNT }));
    const ids = old.map(({ id }) => id);
    if (ids.length > 0) await ask(() => client.xDel(stream, ids));
    return ids.length === TRIM_COUNT;
  }
  const limiterClient: LimiterClient = {
    get isReady() {
      return client.isReady;
    },
    eval: (script, input) => answered(client.eval(script, input)),
  };
  return toStore(adapt, log, {
    fault: health.fault,
    warnings: health.warnings,
    createLimiter: createRedisLimiters(limiterClient, namespace),
    async putIfAbsent(key, text, ttlMs, durability) {
      const expiration = ttlMs === undefined ? {} : { expiration: { type: "PX", value: ttlMs } as const };
      const put = () => client.set(keyOf(key), text, { condition: "NX", ...expiration });
      return (await ask(put, durability)) === "OK";
    },
    async renew(key, text, ttlMs, durability) {
      const input = { keys: [keyOf(key)], arguments: [text, `${ttlMs ?? ""}`] };
      return (await ask(() => client.eval(RENEW, input), durability)) === 1;
    },
    drop: (key, text, durability) =>
      ask(() => client.eval(DROP, { keys: [keyOf(key)], arguments: [text] }), durability),
    async incr(key, by, ttlMs, durability) {
      const input = { keys: [keyOf(key)], arguments: [`${by}`, `${ttlMs ?? ""}`] };
      const sum = await ask(() => client.eval(INCR, input), durability);
      return sum === null ? undefined : Number(sum);
    },
    async join(key, member, weight, ttlMs) {
      const input = { keys: [keyOf(key)], arguments: [member, `${weight}`, `${ttlMs}`] };
      const [members, sum] = (await ask(() => client.eval(JOIN, input))) as [number, string];
      return { members, weight: Number(sum) };
    },
    leave: async (key, member) => void (await ask(() => client.hDel(keyOf(key), member))),
    async enter(event, key, text, ttlMs, durability) {
      const keys = [keyOf(`entered:${event.id}`), bookStreamOf(namespace), keyOf(key)];
      const args = [text, `${ttlMs ?? ""}`, JSON.stringify(event), `${ENTERED_MS}`];
      await ask(() => client.eval(ENTER, { keys, arguments: args }), durability);
    },
    count: async (tallies) =>
      void (await ask(() => client.xAdd(tallyStreamOf(namespace), "*", { e: JSON.stringify(tallies) }))),
    async forget(before, tallyMinute) {
      const tallies = await trim(tallyStreamOf(namespace), tallyMinute * 60_000);
      return (await trim(bookStreamOf(namespace), before)) || tallies;
    },
    async page(prefix, cursor = "0") {
      const found = await ask(() => client.scan(cursor, { MATCH: `${escapeGlob(keyOf(prefix))}*`, COUNT: SCAN_COUNT }));
      const keys = found.keys.map((key) => key.slice(keyOf("").length));
      return found.cursor === "0" ? { keys } : { keys, next: found.cursor };
    },
    ping: health.ping,
    async close() {
      void watch.close();
      health.close();
      if (client.isReady) await ask(() => client.close()).catch(() => undefined);
      if (client.isOpen) reconnection.end(client);
    },
  });
}

/** Escapes the special characters of MATCH patterns. */
const escapeGlob = (text: string): string => text.replace(/[\\*?[\]]/g, "\\$&");
