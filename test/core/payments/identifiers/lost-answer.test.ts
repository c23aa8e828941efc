import { randomUUID } from "node:crypto";
import { setImmediate } from "node:timers/promises";
import { expect } from "chai";
import { move } from "../../../support/chains/scripted-rail.ts";
import { eventually } from "../../../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../../../support/sellers/shop.ts";
import { createMemoryStore } from "../../../support/store/memory-store.ts";

describe("a caller who loses the answer and signs anew with the same identifier", () => {
  const store = createMemoryStore();
  let shop: Shop;
  before(async () => {
    shop = await openShop({ store });
  });
  after(() => shop.close());

  const originals = { putIfAbsent: store.putIfAbsent, enter: store.enter };
  /** The same where a sale is entered with it. */
  function onEnter(prefix: string, act: () => void): void {
    store.enter = async (event, entry) => {
      if (entry.key.startsWith(prefix)) act();
      await originals.enter(event, entry);
    };
  }
  /** Does something before a key of this prefix is put. */
  function onPut(prefix: string, act: () => void): void {
    store.putIfAbsent = async (key, ...rest) => {
      if (key.startsWith(prefix)) act();
      return originals.putIfAbsent(key, ...rest);
    };
  }
  const crash = (): never => {
    throw new Error("the process is gone");
  };

  /** Each step of a paid call, as a way to have the answer lost just then. */
  const STEPS: Record<string, (lose: () => void) => void> = {
    "while the payment is reserved": (lose) => onPut("lease:", lose),
    "while the payment is verified": (lose) => {
      shop.rail.script.verify = () => {
        lose();
        return { isValid: true };
      };
    },
    "while the identifier is reserved": (lose) => onPut("lease:named:", lose),
    "while the handler works": (lose) => {
      shop.handler = () => {
        lose();
        return { value: 1, executions: shop.executions };
      };
    },
    "before the identifier is on record": (lose) =>
      onPut("named:", () => {
        lose();
        crash();
      }),
    "after the identifier is on record, and before the payment is": (lose) =>
      onPut("payment:", () => {
        lose();
        Object.assign(store, originals);
        crash();
      }),
    "after the payment is on record, and before it is settled": (lose) => {
      shop.rail.script.settle = () => {
        lose();
        shop.rail.script = {};
        return crash();
      };
    },
    "after the money has moved": (lose) => {
      shop.rail.script.settle = async (payment, offer) => {
        move(shop.rail, payment, offer);
        lose();
        await setImmediate();
        return crash();
      };
    },
    "while the settlement is put on record": (lose) => onEnter("payment:", lose),
  };

  for (const path of ["/v1/roll", "/v1/echo"])
    for (const [step, prepare] of Object.entries(STEPS))
      it(`${step}, is charged once for ${path}`, async () => {
        const identifier = `pay_${randomUUID()}`;
        const charged = shop.rail.moved.size;
        const lost = Promise.withResolvers<void>();
        const leaving = new AbortController();
        prepare(() => {
          leaving.abort();
          lost.resolve();
        });
        const payment = await shop.pay(path, { identifier });
        await Promise.allSettled([
          shop.post(path, ROLL, { "payment-signature": payment }, leaving.signal),
          lost.promise,
        ]);
        Object.assign(store, originals);
        shop.rail.script = {};
        shop.handler = undefined;
        const anew = async (): Promise<Response> =>
          shop.post(path, ROLL, { "payment-signature": await shop.pay(path, { identifier }) });
        const found = await eventually(anew, ({ status }) => status === 200);
        const ran = shop.executions;
        expect(await (await eventually(anew, ({ status }) => status === 200)).json()).to.deep.equal(await found.json());
        expect(shop.executions, "no more runs").to.equal(ran);
        expect((await shop.retry(path, ROLL, payment)).status, "the first signature has no other fate").to.be.oneOf([
          200, 409,
        ]);
        expect(shop.rail.moved.size - charged, "charged once").to.equal(1);
      });
});
