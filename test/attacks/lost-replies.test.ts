import { createClient } from "@keyv/redis";
import { expect } from "chai";
import type { OpenStore } from "../../runtime/drivers/store/keyv.ts";
import { openRedisStore } from "../../runtime/drivers/store/redis.ts";
import { createScriptedRail, type ScriptedRail } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { withRedis } from "../support/programs.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { startRedis, type TestRedis } from "../support/store/redis.ts";
import { type CommandFate, type RedisProxy, startRedisProxy } from "../support/store/redis-proxy.ts";

const NAMESPACE = "test";
/** Each command with each fate; twice in `npm run test:crash`. */
const PAYMENTS = process.env.CRASH_ROUNDS === undefined ? 48 : 96;
const LANES = 20;
/** How long a lease outlives its call, and how long one answer of the store is waited for. */
const LEASE_MS = 2000;
const PATIENCE_MS = 2000;
/** For a machine that is busy. */
const GRACE_MS = 20_000;

type Match = (words: readonly string[]) => boolean;
const on =
  (prefix: string, isIt: Match): Match =>
  (words) =>
    words[1]?.startsWith(`${NAMESPACE}::${prefix}`) === true && isIt(words);
const isPutIfAbsent: Match = (words) => words.includes("NX");
const isSet: Match = (words) => words[0] === "SET" && !isPutIfAbsent(words);
const isScriptOn =
  (prefix: string, isIt: Match = () => true): Match =>
  (words) =>
    words[0] === "EVAL" && words.some((word) => word.startsWith(`${NAMESPACE}::${prefix}`)) && isIt(words);
const isGet: Match = ([verb]) => verb === "GET";
const isRenewal: Match = ([, script]) => script?.includes('"SET"') === true;
const isRelease: Match = ([, script]) => script?.includes('"DEL"') === true;

const HEARTBEAT = "the heartbeat of its lease";
/** Each command of a call that is paid last, and those that only a call that is paid first has. */
const COMMANDS: readonly { readonly name: string; readonly path: string; readonly match: Match }[] = [
  { name: "the claim of its lease", path: "/v1/roll", match: on("lease:", isPutIfAbsent) },
  { name: HEARTBEAT, path: "/v1/roll", match: isScriptOn("lease:", isRenewal) },
  { name: "the release of its lease", path: "/v1/roll", match: isScriptOn("lease:", isRelease) },
  { name: "the reading of its record", path: "/v1/roll", match: on("payment:", isGet) },
  { name: "the beginning of its record", path: "/v1/roll", match: on("payment:", isPutIfAbsent) },
  { name: "its place among open payments", path: "/v1/roll", match: on("open:", isSet) },
  { name: "the mark that it is settled", path: "/v1/roll", match: isScriptOn("payment:") },
  { name: "the payer's standing", path: "/v1/roll", match: on("pays-first:", isGet) },
  { name: "its place among calls in flight", path: "/v1/roll", match: isScriptOn("in-flight:") },
  { name: "its leaving of calls in flight", path: "/v1/roll", match: ([verb]) => verb === "HDEL" },
  { name: "the mark that it is settled, with work owed", path: "/v1/echo", match: isScriptOn("payment:") },
  { name: "the end of owed work", path: "/v1/echo", match: on("owed-end:", isPutIfAbsent) },
];
const FATES: readonly CommandFate[] = ["refuse", "cut", "mute", "late"];

/** A process of the shop, with a network of its own between it and Redis. */
interface Lane {
  readonly shop: Shop;
  readonly proxy: RedisProxy;
  readonly store: OpenStore;
}

withRedis.describe("a paid call that loses one command of the store, or its reply", () => {
  let redis: TestRedis;
  let rail: ScriptedRail;
  /** The first one is undisturbed. */
  const lanes: Lane[] = [];
  let nonce = 0;
  let rolls = 0;
  before(async () => {
    redis = await startRedis();
    rail = createScriptedRail();
    while (lanes.length <= LANES) lanes.push(await openLane());
  });
  after(async () => {
    for (const { shop, store, proxy } of lanes) {
      await shop.close();
      await store.close();
      await proxy.stop();
    }
    await redis?.stop();
  });

  async function countSales(): Promise<number> {
    const client = createClient({ url: redis.url });
    await client.connect();
    const { length } = await client.xRange(`${NAMESPACE}-book`, "-", "+");
    await client.close();
    return length;
  }

  async function openLane(): Promise<Lane> {
    const proxy = await startRedisProxy(redis.url);
    const store = await openRedisStore({ url: proxy.url, namespace: NAMESPACE });
    const shop = await openShop({ rail, store: { ...store, entries: createMemoryStore().entries } });
    return { shop, proxy, store };
  }

  /** Loses one command of one payment, and repeats the call in two processes until it is answered. */
  async function lose(
    { shop, proxy, store }: Lane,
    { name, path, match }: (typeof COMMANDS)[number],
    fate: CommandFate,
  ) {
    const label = `${name}, ${fate}`;
    const isBack = (): Promise<boolean> =>
      store.ping().then(
        () => true,
        () => false,
      );
    await eventually(isBack);
    const payment = await shop.pay(path, { nonce: ++nonce });
    const send = (to: Shop): Promise<Response> => to.post(path, ROLL, { "payment-signature": payment });
    const insist = async (to: Shop): Promise<Response> => {
      const response = await eventually(
        () => send(to),
        ({ status }) => status !== 409 && status !== 503,
        50,
      );
      expect(response.status, label).to.equal(200);
      return response;
    };
    const lost = Promise.withResolvers<number>();
    let isLost = false;
    proxy.intervene((words) => {
      if (isLost || !match(words)) return "pass";
      isLost = true;
      lost.resolve(performance.now());
      return fate;
    });
    shop.handler = async () => {
      if (name === HEARTBEAT) await lost.promise; // Nothing else takes as long as its interval.
      return { value: ++rolls };
    };
    const first = await send(shop);
    expect(first.status, label).to.be.oneOf([200, 409, 502, 503]); // 502: paid-not-delivered
    const since = await lost.promise;
    const { shop: twin } = lanes[0] as Lane;
    const last = await insist(twin);
    const again = await insist(shop);
    expect(await again.json(), label).to.deep.equal(await last.clone().json());
    if (first.status === 200) expect(await first.json(), label).to.deep.equal(await last.json());
    expect(performance.now() - since, label).to.be.below(PATIENCE_MS + LEASE_MS + GRACE_MS);
  }

  it(`is charged once, and answered when its lease is over: ${PAYMENTS} payments`, async () => {
    const cases = Array.from({ length: PAYMENTS }, (_, at) => ({
      command: COMMANDS[at % COMMANDS.length] as (typeof COMMANDS)[number],
      fate: FATES[Math.floor(at / COMMANDS.length) % FATES.length] as CommandFate,
    }));
    const work = async (lane: Lane): Promise<void> => {
      for (let next = cases.shift(); next; next = cases.shift()) await lose(lane, next.command, next.fate);
    };
    await Promise.all(lanes.slice(1).map(work));
    expect(rail.moved.size).to.equal(PAYMENTS);
    expect(await countSales(), "each of them is in the book once").to.equal(PAYMENTS);
  });
});
