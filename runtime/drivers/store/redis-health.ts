import type { Log } from "../../api/capabilities.ts";
import { Problem } from "../../api/problem.ts";
import { createRounds } from "../../core/time/rounds.ts";

/** The commands that show how a Redis keeps its data. */
export interface RedisTeller {
  info(section: string): Promise<string>;
  configGet(name: string): Promise<Readonly<Record<string, string>>>;
  /** The mark that payphone left when it first used this Redis. */
  mark(): Promise<string | null>;
  /** Increments a counter that nothing else writes. */
  count(): Promise<number>;
}

/** Watches whether a Redis still keeps its data. */
export interface RedisHealth {
  /** Asks Redis. @throws Problem `unavailable` with the fault that was found, and whatever the commands throw. */
  examine(): Promise<void>;
  /** As `examine`. @throws Problem `unavailable`, also with the reason why Redis does not answer. */
  ping(): Promise<void>;
  /** Remembers the mark: from now on, a Redis without it counts as one that has lost its data. */
  recognize(): Promise<void>;
  /** From now on nothing may be sold until Redis was examined again: another one may answer at its address. */
  disconnected(): void;
  /** Why the connection was lost, or cannot be made again. Each reason is logged once until Redis is back. */
  failed(error: Error): void;
  /** Examines at once what was not examined since a disconnection. */
  reconnected(): void;
  /** The fault that the last examination found; while there is one, nothing may be sold. */
  fault(): Problem | undefined;
  /** Whether Redis takes writes only while it has replicas: `min-replicas-to-write`. */
  needsReplicas(): boolean;
  /** Sentences about the data that a crash may lose. */
  warnings(): readonly string[];
  close(): void;
}

export interface RedisHealthDeps {
  readonly redis: RedisTeller;
  readonly log: Log;
}

/** The time between two examinations. */
const EVERY_MS = 5000;
/** A new master lacks what the old one had not sent, since writes do not wait for replicas. Told until the next start. */
const PROMOTED =
  "A replica has become Redis's master, and may lack the newest payments: compare with payphone books verify";
/** Counted less than before, as from an older copy of its data. Told until the next start. */
const OLDER =
  "Redis has come back with older data, and may lack the newest payments: compare with payphone books verify";
const AWAY = "Redis was away, and has not told yet whether it still has its data";

/** Examines Redis every few seconds; each change is logged once. */
export function createRedisHealth({ redis, log }: RedisHealthDeps): RedisHealth {
  let mark: string | null = null;
  /** The id of the history of writes, which a replica changes when it becomes the master. */
  let history: string | undefined;
  let isPromoted = false;
  /** The last count. */
  let counted = 0;
  let isOlder = false;
  let needsReplicas = false;
  let fault: string | undefined;
  let warnings: readonly string[] = [];
  /** Why Redis cannot be reached: the newest reason last. */
  let outages: readonly string[] = [];
  let isConnected = true;
  let disconnections = 0;
  /** How many disconnections the last examination has covered. */
  let examined = 0;
  const rounds = createRounds(async () => {
    await look().catch(() => {}); // `look` logs it.
    return EVERY_MS;
  });
  rounds.start(EVERY_MS);

  const health: RedisHealth = {
    async examine() {
      await look();
      if (fault !== undefined) throw toProblem(fault);
    },
    async ping() {
      await health.examine().catch((error: Error) => {
        throw error instanceof Problem ? error : toProblem(explainSilence(outages.at(-1) ?? toReason(error)));
      });
    },
    async recognize() {
      mark = await redis.mark();
    },
    disconnected() {
      isConnected = false;
      disconnections += 1;
    },
    failed,
    reconnected() {
      isConnected = true;
      if (examined < disconnections) look().catch(() => {}); // Tried again within `EVERY_MS`.
    },
    fault() {
      const reason = fault ?? (examined < disconnections ? AWAY : undefined);
      return reason === undefined ? undefined : toProblem(reason);
    },
    needsReplicas: () => needsReplicas,
    warnings: () => warnings,
    close: () => void rounds.close(),
  };
  return health;

  function failed(error: Error): void {
    const reason = toReason(error);
    if (!outages.includes(reason)) log.error("store.unreachable", { reason, error });
    outages = [...outages.filter((one) => one !== reason), reason];
  }

  async function look(): Promise<void> {
    const known = disconnections;
    const [cluster, memory, persistence, replication, found, count, fsync] = await ask(redis).catch((error: Error) => {
      if (isConnected) failed(error); // Otherwise the connection's own error was logged.
      throw error;
    });
    if (explainRole(replication) === undefined) noteHistory(replication);
    needsReplicas = field(replication, "min_slaves_good_slaves") !== undefined;
    const loss = explainLoss(found);
    if (loss === undefined && typeof count === "number") noteCount(count);
    tell(
      explainCluster(cluster) ??
        explainEviction(memory) ??
        explainRole(replication) ??
        loss ??
        explainFullMemory(memory) ??
        (typeof count === "string" ? count : undefined),
      [...explainPersistence(persistence, fsync), ...(isPromoted ? [PROMOTED] : []), ...(isOlder ? [OLDER] : [])],
    );
    examined = Math.max(examined, known);
    for (const reason of outages) log.info("store.mended", { reason });
    outages = [];
  }

  /** Of a master: a former one, now a replica, has the new one's id already. */
  function noteHistory(replication: string): void {
    if (history !== undefined && field(replication, "master_replid2") === history) isPromoted = true;
    history = field(replication, "master_replid");
  }

  function noteCount(count: number): void {
    if (count <= counted) isOlder = true;
    counted = count;
  }

  function explainLoss(found: string | null): string | undefined {
    if (mark === null || found === mark) return undefined;
    return "Redis has lost what payphone kept there: bring its data back, or restart payphone to begin without it";
  }

  function tell(nextFault: string | undefined, nextWarnings: readonly string[]): void {
    const known = [fault, ...warnings];
    const next = [nextFault, ...nextWarnings];
    if (nextFault !== fault && nextFault !== undefined) log.error("store.unsafe", { reason: nextFault });
    for (const warning of nextWarnings) if (!known.includes(warning)) log.warn("store.warning", { warning });
    for (const reason of known)
      if (reason !== undefined && !next.includes(reason)) log.info("store.mended", { reason });
    fault = nextFault;
    warnings = nextWarnings;
  }
}

const ask = (redis: RedisTeller) =>
  Promise.all([
    redis.info("cluster"),
    redis.info("memory"),
    redis.info("persistence"),
    redis.info("replication"),
    redis.mark(),
    redis.count().catch(toRefusal),
    redis.configGet("appendfsync").then(
      (values) => values.appendfsync,
      () => undefined, // Hosted Redis may forbid CONFIG GET.
    ),
  ]);

/** The code rather than the message, which may name a private address: `/ready` is public. */
const toReason = (error: NodeJS.ErrnoException): string => error.code ?? error.message;

const explainSilence = (reason: string): string =>
  lacksRights(reason) ? `Redis refuses what payphone needs: ${reason}` : `Redis cannot be reached: ${reason}`;

/** Whether Redis says that a user or a password has no rights: waiting is useless. */
export const lacksRights = (reason: string): boolean => /^(?:NOPERM|NOAUTH|WRONGPASS)\b/.test(reason);

const toProblem = (fault: string): Problem => new Problem("unavailable", fault, { retryAfter: 5 });

const field = (info: string, name: string): string | undefined =>
  new RegExp(`^${name}:([^\\r\\n]*)`, "m").exec(info)?.[1];

/** Several keys are written at once, which a cluster refuses, however few nodes it has. */
function explainCluster(cluster: string): string | undefined {
  if (field(cluster, "cluster_enabled") !== "1") return undefined;
  return "Redis runs as a cluster: name one with cluster-enabled no in REDIS_URL";
}

/** A Redis that evicts keys when its memory is full loses payments. */
function explainEviction(memory: string): string | undefined {
  const policy = field(memory, "maxmemory_policy") ?? "noeviction";
  if ((field(memory, "maxmemory") ?? "0") === "0" || policy === "noeviction") return undefined;
  return `Redis may forget payments: its maxmemory-policy is ${policy}, set it to noeviction`;
}

function explainRole(replication: string): string | undefined {
  if ((field(replication, "role") ?? "master") === "master") return undefined;
  return "Redis is a replica and takes no writes: name its master in REDIS_URL, or make it one";
}

/** A Redis that evicts nothing refuses writes beyond its limit, which does not count its buffers. */
function explainFullMemory(memory: string): string | undefined {
  const bytes = (name: string): number => Number(field(memory, name) ?? 0);
  const most = bytes("maxmemory");
  if (most === 0 || bytes("used_memory") - bytes("mem_not_counted_for_evict") <= most) return undefined;
  return "Redis is full and takes no writes: raise its maxmemory";
}

/** Redis refuses writes while its disk takes none, and while it lacks replicas that it must have. */
function toRefusal(error: Error): string {
  if (!/^(?:MISCONF|NOREPLICAS|OOM|READONLY)\b/.test(error.message)) throw error;
  return `Redis takes no writes: ${error.message}`;
}

function explainPersistence(persistence: string, fsync: string | undefined): readonly string[] {
  const loses = "Redis may lose the newest payments when it crashes";
  if (field(persistence, "aof_enabled") === "0")
    return [`${loses}: set its appendonly to yes and its appendfsync to always`];
  return fsync === undefined || fsync === "always" ? [] : [`${loses}: its appendfsync is ${fsync}, set it to always`];
}
