import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { openStage } from "../core/jobs/stage.ts";
import { move } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

const ROUNDS = 60;

describe("a caller who leaves", () => {
  const store = createMemoryStore();
  let shop: Shop;
  before(async () => {
    shop = await openShop({ store });
  });
  after(() => shop.close());

  /** Each step of a paid call, as a way to have something done just then. */
  const STEPS: Record<string, (leave: () => void) => void> = {
    "while the payment is reserved": (leave) => onPut("lease:", leave),
    "while the payment is verified": (leave) => {
      shop.rail.script.verify = () => {
        leave();
        return { isValid: true };
      };
    },
    "while the handler works": (leave) => {
      shop.handler = () => {
        leave();
        return { value: 1, executions: shop.executions };
      };
    },
    "while the result is put on record": (leave) => onPut("payment:", leave),
    "before the money moves": (leave) => {
      shop.rail.script.settle = async (payment, offer) => {
        leave();
        await setImmediate();
        return move(shop.rail, payment, offer);
      };
    },
    "after the money has moved": (leave) => {
      shop.rail.script.settle = async (payment, offer) => {
        const receipt = move(shop.rail, payment, offer);
        leave();
        await setImmediate();
        return receipt;
      };
    },
    "while the settlement is put on record": (leave) => onEnter("payment:", leave),
  };
  const originals = { putIfAbsent: store.putIfAbsent, enter: store.enter };
  function onEnter(prefix: string, leave: () => void): void {
    store.enter = async (event, entry) => {
      if (entry.key.startsWith(prefix)) leave();
      return originals.enter(event, entry);
    };
  }
  function onPut(prefix: string, leave: () => void): void {
    store.putIfAbsent = async (key, ...rest) => {
      if (key.startsWith(prefix)) leave();
      return originals.putIfAbsent(key, ...rest);
    };
  }

  for (const [step, prepare] of Object.entries(STEPS))
    it(`${step}, is not charged, or finds the result with the same payment: ${ROUNDS} times`, async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const payment = await shop.pay("/v1/roll");
        const charged = shop.rail.moved.size;
        const left = Promise.withResolvers<void>();
        const leaving = new AbortController();
        prepare(() => {
          leaving.abort();
          left.resolve();
        });
        const call = shop.post("/v1/roll", ROLL, { "payment-signature": payment }, leaving.signal);
        await Promise.allSettled([call, left.promise]);
        Object.assign(store, originals);
        shop.rail.script = {};
        shop.handler = undefined;
        const found = await shop.retry("/v1/roll", ROLL, payment);
        expect(found.status).to.equal(200);
        const ran = shop.executions;
        const again = await shop.retry("/v1/roll", ROLL, payment);
        expect(await again.json()).to.deep.equal(await found.json());
        expect(shop.executions, "no more runs").to.equal(ran);
        expect(shop.rail.moved.size - charged, "charged once").to.equal(1);
      }
    });

  it("is charged for what his call has left behind, however early he leaves, and finds the result", async () => {
    const before = shop.rail.moved.size;
    const ran = shop.executions;
    const payment = await shop.pay("/v1/echo");
    const started = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    shop.handler = async (_input, { signal }) => {
      started.resolve();
      await left.promise;
      signal.throwIfAborted();
      return { value: 7 };
    };
    const leaving = new AbortController();
    const call = shop.post("/v1/echo", ROLL, { "payment-signature": payment }, leaving.signal).catch(() => "left");
    await started.promise;
    leaving.abort();
    expect(await call).to.equal("left");
    left.resolve();
    await eventually(() => shop.rail.moved.size > before);
    expect(await (await shop.retry("/v1/echo", ROLL, payment)).json()).to.deep.equal({ value: 7 });
    expect(shop.executions - ran).to.equal(1);
    expect(shop.rail.moved.size - before).to.equal(1);
    shop.handler = undefined;
  });

  it("has the work stopped for which nobody waits any more, and is not charged", async () => {
    const charged = shop.rail.moved.size;
    const payment = await shop.pay("/v1/roll");
    const started = Promise.withResolvers<void>();
    const stopped = Promise.withResolvers<Error>();
    shop.handler = async (_input, { signal }) => {
      started.resolve();
      await once(signal, "abort");
      stopped.resolve(signal.reason);
      return { value: 1, executions: shop.executions };
    };
    const leaving = new AbortController();
    const call = shop.post("/v1/roll", ROLL, { "payment-signature": payment }, leaving.signal).catch(() => "left");
    await started.promise;
    leaving.abort();
    expect(await call).to.equal("left");
    expect((await stopped.promise).message).to.equal("The caller is gone");
    await eventually(() => ![...store.entries.keys()].some((key) => key.startsWith("lease:")));
    expect(shop.rail.moved.size).to.equal(charged);
    shop.handler = undefined;
  });

  it("while the job that he buys is put on record, is not charged, and can buy it with the same payment", async () => {
    const stage = await openStage();
    const payment = await stage.pay();
    const [reached, proceed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { set } = stage.store;
    stage.store.set = async (key, ...rest) => {
      if (key.startsWith("job:")) reached.resolve();
      if (key.startsWith("job:")) await proceed.promise;
      return set(key, ...rest);
    };
    const leaving = new AbortController();
    const call = stage.post("/v1/search", { what: "x" }, payment, leaving.signal).catch(() => "left");
    await reached.promise;
    leaving.abort();
    expect(await call).to.equal("left");
    for (let at = 0; at < 3; at += 1) await stage.post("/v1/search", {}); // The server has seen by now that he left.
    stage.store.set = set;
    proceed.resolve();
    await eventually(() => ![...stage.store.entries.keys()].some((key) => key.startsWith("lease:")));
    expect(stage.rail.asked.settle).to.equal(0);
    const bought = await eventually(
      () => stage.post("/v1/search", { what: "x" }, payment),
      ({ status }) => status !== 409,
    );
    expect([bought.status, stage.rail.moved.size]).to.deep.equal([200, 1]);
    await stage.close();
  });

  it("leaves no reservation behind", async () => {
    await eventually(() => ![...store.entries.keys()].some((key) => /^(lease|open):/.test(key)));
  });
});
