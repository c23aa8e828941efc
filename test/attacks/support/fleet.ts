import { setTimeout as sleep } from "node:timers/promises";
import type { TestSandbox } from "../../support/chains/chains.ts";
import { createFolder } from "../../support/folder.ts";
import { findFreePort } from "../../support/free-port.ts";
import { type Seller, startSeller } from "../../support/sellers/seller.ts";
import { startRedis } from "../../support/store/redis.ts";
import { type RedisProxy, startRedisProxy } from "../../support/store/redis-proxy.ts";

/** What can happen to a fleet: kill -9, a network that pauses or breaks, and kill -9 of Redis. */
export const HAZARDS = ["kill", "pause", "cut", "redis"] as const;
type Hazard = (typeof HAZARDS)[number];

/** Processes of one shop on one Redis, each behind a network of its own. */
export interface Fleet {
  /** Of the processes, whether they run or not. */
  readonly urls: readonly string[];
  /** How often each hazard has struck. */
  readonly struck: Readonly<Record<Hazard, number>>;
  strike(hazard: Hazard): Promise<void>;
  /** Ends what is going on, and fulfils when Redis and all processes work again. */
  calm(): Promise<void>;
  stop(): Promise<void>;
}

interface Ship {
  readonly port: number;
  readonly proxy: RedisProxy;
  /** Undefined while it is started anew. */
  seller: Seller | undefined;
}

/** The longest outages, in milliseconds: of a network, longer than a lease and its patience; of Redis. */
const LONGEST_PAUSE_MS = 4000;
const LONGEST_OUTAGE_MS = 2000;
const RETRY_MS = 500;
const SIZE = 3;

export async function openFleet({
  sandbox,
  dir,
  log,
}: {
  sandbox: TestSandbox;
  dir: string;
  log: string;
}): Promise<Fleet> {
  const redis = await startRedis();
  const data = createFolder();
  const ongoing = new Set<Promise<void>>();
  const struck = { kill: 0, pause: 0, cut: 0, redis: 0 };
  let isOver = false;
  let isDown = false;
  const ships: Ship[] = [];
  for (let at = 0; at < SIZE; at += 1)
    ships.push({ port: await findFreePort(), proxy: await startRedisProxy(redis.url), seller: undefined });
  const urls = ships.map(({ port }) => `http://127.0.0.1:${port}`);

  /** Starts a process, however often Redis is away meanwhile. */
  async function launch(ship: Ship): Promise<void> {
    const { port, proxy } = ship;
    const env = { ERRAND_LOG: log, LOG_LEVEL: "error", REDIS_URL: proxy.url };
    while (!ship.seller && !isOver) {
      const options = { sandbox, dir, dataDir: data, port, baseUrl: urls[0] as string, env };
      ship.seller = await startSeller(options).catch(() => undefined);
      if (!ship.seller) await sleep(RETRY_MS);
    }
  }

  const hazards: Readonly<Record<Hazard, () => Promise<void>>> = {
    /** Unless one is dead already: on a slow machine, none would be left. */
    async kill() {
      const ship = any(ships) as Ship;
      const { seller } = ship;
      if (!seller || ships.some((other) => !other.seller)) return;
      struck.kill += 1;
      ship.seller = undefined;
      await seller.kill();
      await launch(ship);
    },
    async pause() {
      const { proxy } = any(ships) as Ship;
      struck.pause += 1;
      proxy.pause();
      await sleep(Math.random() * LONGEST_PAUSE_MS);
      proxy.resume();
    },
    async cut() {
      struck.cut += 1;
      (any(ships) as Ship).proxy.cut();
    },
    async redis() {
      if (isDown) return;
      isDown = true;
      struck.redis += 1;
      await redis.kill();
      await sleep(Math.random() * LONGEST_OUTAGE_MS);
      await redis.restart();
      isDown = false;
    },
  };

  await Promise.all(ships.map(launch));
  return {
    urls,
    struck,
    strike(hazard) {
      const strike = hazards[hazard]().finally(() => ongoing.delete(strike));
      ongoing.add(strike);
      return strike;
    },
    async calm() {
      await Promise.all(ongoing);
    },
    async stop() {
      isOver = true;
      await Promise.all(ongoing);
      await Promise.all(ships.map(({ seller }) => seller?.kill()));
      await Promise.all(ships.map(({ proxy }) => proxy.stop()));
      await redis.stop();
    },
  };
}

/** One of them, by chance. */
const any = <T>(all: readonly T[]): T | undefined => all[Math.floor(Math.random() * all.length)];
