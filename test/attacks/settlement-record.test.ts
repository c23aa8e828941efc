import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import { refuses } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { expectUnknown } from "./support/settlements.ts";

describe("a settlement on a store that fails between two lines", () => {
  let shop: Shop;
  let payment: string;
  const gone = (): Promise<never> => Promise.reject(new Problem("unavailable", "The store is gone"));
  let store: ReturnType<typeof createMemoryStore>;
  beforeEach(async () => {
    store = createMemoryStore();
    shop = await openShop({ store });
    payment = await shop.pay("/v1/roll");
  });
  afterEach(() => shop.close());
  const send = (): Promise<Response> => shop.post("/v1/roll", ROLL, { "payment-signature": payment });
  const retry = (): Promise<Response> => shop.retry("/v1/roll", ROLL, payment);

  it("is not called unpaid before its refusal is on record: it would be tried again", async () => {
    shop.rail.script.settle = refuses();
    const set = store.set;
    store.set = (key, ...rest) => (key.startsWith("payment:") ? gone() : set(key, ...rest));
    await expectUnknown(await send(), "the refusal was lost");
  });

  it("is not called unpaid by a process whose lease has lapsed: another one may be settling it", async () => {
    const lapsed = Promise.withResolvers<void>();
    store.renew = async () => {
      lapsed.resolve();
      return false;
    };
    shop.rail.script.settle = (given, offer) => lapsed.promise.then(() => refuses()(given, offer));
    await expectUnknown(await send(), "the lease was lost");
  });

  it("is refused durably: after a crash nobody settles what the payer was told is unpaid", async () => {
    shop.rail.script.settle = refuses();
    const durabilities = new Map<string, unknown>();
    const set = store.set;
    store.set = (key, value, ttlMs, durability) => {
      durabilities.set(key.split(":", 1)[0] as string, durability ?? "durable");
      return set(key, value, ttlMs, durability);
    };
    expect((await send()).status).to.equal(402);
    expect(durabilities.get("payment")).to.equal("durable");
  });

  it("is not called uncharged when nobody knows whether it was put on record", async () => {
    const putIfAbsent = store.putIfAbsent;
    store.putIfAbsent = async (key, ...rest) => {
      const done = await putIfAbsent(key, ...rest);
      return key.startsWith("payment:") ? gone() : done;
    };
    await expectUnknown(await send(), "the answer was lost");
    store.putIfAbsent = putIfAbsent;
    expect(await (await retry()).json()).to.deep.equal({ value: 1, executions: 1 });
    expect(shop.rail.moved.size).to.equal(1);
  });

  it("is in the book after a crash, also when its place among open payments was lost", async () => {
    const { set, enter } = store;
    store.set = (key, ...rest) => (key.startsWith("open:") ? gone() : set(key, ...rest));
    await expectUnknown(await send(), "the place was lost");
    store.set = set;
    const crashed = Promise.withResolvers<void>();
    store.enter = () => {
      crashed.resolve();
      return gone();
    };
    await Promise.all([crashed.promise, retry()]);
    await shop.restart();
    store.enter = enter;
    await shop.restart();
    await eventually(() => store.events?.size === 1);
    expect(shop.rail.moved.size).to.equal(1);
  });

  for (const failing of ["get", "set", "delete", "putIfAbsent"] as const)
    it(`never charges twice, nor for nothing, whichever call of ${failing} fails`, async () => {
      const original = store[failing] as (...args: unknown[]) => Promise<unknown>;
      for (let at = 1; at <= 8; at++) {
        const moved = shop.rail.moved.size;
        payment = await shop.pay("/v1/roll");
        let calls = 0;
        const failOnce = (...args: unknown[]) => (++calls === at ? gone() : original(...args));
        Object.assign(store, { [failing]: failOnce });
        const first = await send();
        Object.assign(store, { [failing]: original });
        expect(first.status).to.be.oneOf([200, 503]);
        const again = await retry();
        expect(again.status, `${failing} ${at}`).to.equal(200);
        if (first.status === 200) expect(await again.json()).to.deep.equal(await first.json());
        expect(shop.rail.moved.size - moved, `${failing} ${at}`).to.equal(1);
      }
    });
});
