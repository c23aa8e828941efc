import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { expect } from "chai";
import { openCollect } from "../../../runtime/cli/serve/change/collect.ts";
import { createSwap } from "../../../runtime/cli/serve/change/swap.ts";
import type { Composition } from "../../../runtime/cli/serve/composition.ts";
import { loadSet, type ManifestSet } from "../../../runtime/cli/set/load.ts";
import { countModules } from "../../../runtime/cli/set/plugins/versions.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import { edit, type Files, TOSS, writeFiles } from "../../core/set/served-directory.ts";
import { eventually } from "../../support/eventually.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json, type PayingFetch, receiptOf, stockFetch } from "../../support/sellers/stock-buyer.ts";

/** Where the plugins of this test say that they were called, and wait. */
interface Gate {
  readonly called: PromiseWithResolvers<void>;
  readonly opened: PromiseWithResolvers<void>;
}
const world = globalThis as { swapTestGate?: Gate };

const WAITING = `import { definePlugin } from "#plugin";
import { side } from "./side.ts";
import { unchanged } from "./unchanged.ts";

export default definePlugin("toss", () => ({
  async toss() {
    const gate = globalThis.swapTestGate;
    gate?.called.resolve();
    await gate?.opened.promise;
    return { sides: [side()], by: unchanged };
  },
}));
`;
const { "plugins/toss.ts": _, ...REST } = TOSS;
/** Collecting takes a tenth of a second of a processor. */
const COLLECT_MS = 1000;
const SHOP: Files = edit(
  {
    ...REST,
    "plugins/toss/index.ts": WAITING,
    "plugins/toss/side.ts": `export const side = (): string => "heads";\n`,
    "plugins/toss/unchanged.ts": "export const unchanged = Math.random();\n",
  },
  "schemas/TossResponse.json",
  '"required"',
  '"additionalProperties": true, "required"',
);

describe("a set that is swapped for another one", () => {
  let shop: OperatedShop;
  let pay: PayingFetch;

  before(async () => {
    shop = await openOperatedShop(SHOP);
    pay = await stockFetch(shop.sandbox, "base");
  });
  after(() => shop.close());
  afterEach(() => {
    delete world.swapTestGate;
  });

  const toss = async (): Promise<{ sides: string[]; by: number; amount: string | undefined }> => {
    const response = await pay(`${shop.running.url}/v1/toss`, json({}));
    expect(response.status).to.equal(200);
    const { sides, by } = (await response.json()) as { sides: string[]; by: number };
    return { sides, by, amount: (receiptOf(response) as { amount?: string }).amount };
  };
  const change = async (files: Files): Promise<void> => {
    await writeFiles(shop.dir, files);
    await shop.running.swap.change({ set: await loadSet(shop.dir) });
  };

  it("sells a changed plugin and a new price at once, and loads nothing twice that has not changed", async () => {
    const before = await toss();
    const modules = countModules();
    await change({
      ...edit(SHOP, "manifests/toss.yaml", "0.01", "0.02"),
      "plugins/toss/side.ts": `export const side = (): string => "tails";\n`,
    });
    const after = await toss();
    expect([before.sides, after.sides]).to.deep.equal([["heads"], ["tails"]]);
    expect([before.amount, after.amount]).to.deep.equal(["10000", "20000"]);
    expect(after.by, "the module that has not changed").to.equal(before.by);
    expect(countModules() - modules).to.equal(2); // index.ts, because it imports side.ts
  });

  it("lets a call in flight end on the set that it began with, and is closed afterwards", async () => {
    await change(edit(SHOP, "manifests/toss.yaml", "0.01", "0.02"));
    const gate: Gate = { called: Promise.withResolvers(), opened: Promise.withResolvers() };
    world.swapTestGate = gate;
    const slow = toss();
    await gate.called.promise;
    await change({
      ...edit(SHOP, "manifests/toss.yaml", "0.01", "0.03"),
      "plugins/toss/side.ts": `export const side = (): string => "tails";\n`,
    });
    delete world.swapTestGate;
    expect(await toss()).to.include({ amount: "30000" });
    expect(shop.running.swap.retiring()).to.equal(1);
    gate.opened.resolve();
    expect(await slow).to.deep.include({ sides: ["heads"], amount: "20000" });
    await eventually(() => shop.running.swap.retiring() === 0);
  });

  it("leaves nothing of earlier sets in memory, once their calls have ended", async () => {
    const current = (): readonly WeakRef<object>[] => {
      const { set, composition } = shop.running.swap.current();
      return [new WeakRef(set), new WeakRef(composition)];
    };
    const earlier: WeakRef<object>[] = [];
    for (const price of ["0.04", "0.05", "0.06", "0.07"]) {
      await change(edit(SHOP, "manifests/toss.yaml", "0.01", price));
      await toss();
      earlier.push(...current());
    }
    await change(SHOP);
    const collect = openCollect();
    const isFree = (): boolean => {
      collect();
      return earlier.every((ref) => ref.deref() === undefined);
    };
    await eventually(isFree, Boolean, COLLECT_MS); // The signal that bounds a settlement holds them for 44 seconds.
  });

  it("changes nothing when a plugin of the new set has a fault", async () => {
    await change(SHOP);
    await writeFiles(shop.dir, { "plugins/toss/side.ts": "export const other = 1;\n" });
    const refused = await shop.running.swap
      .change({ set: await loadSet(shop.dir) })
      .catch((error: Error) => error.message);
    expect(refused).to.match(/^plugins\/toss\/index\.ts:2:10 .*side/);
    expect(await toss()).to.deep.include({ sides: ["heads"], amount: "10000" });
  });
});

describe("the moment of a swap", () => {
  const SET = { site: { rails: [] } } as unknown as ManifestSet;
  const compose = (prepare: () => Promise<void>): Composition =>
    ({
      listener: () => {},
      services: [],
      railStatuses: () => new Map(),
      unsellable: () => [],
      prepare,
      start: async () => {},
      takeOver() {},
      drain: async () => {},
      endOffers() {},
      close: async () => {},
    }) as unknown as Composition;

  it("comes in the same turn of the event loop in which the new set is prepared, so that no call waits for it", async () => {
    const former = compose(async () => {});
    let sold: Composition | undefined;
    const next = compose(async () => void setImmediate(() => (sold = swap.current().composition)));
    const swap = createSwap({ set: SET, composition: former }, { compose: async () => next, log: silentLog });
    await swap.change({ set: SET });
    await eventually(() => sold);
    expect(sold).to.equal(next);
    await swap.close();
  });

  it("hurries the work of earlier sets when it is that of too many, and closes each of them, and the last", async () => {
    const closed: string[] = [];
    const busy = (name: string): Composition => ({
      ...compose(async () => {}),
      drain: () => new Promise(() => {}),
      close: async () => void closed.push(name),
    });
    const sets = Array.from({ length: 10 }, (_, at) => busy(`${at}`)) as [Composition, ...Composition[]];
    const [first, ...later] = sets;
    const swap = createSwap(
      { set: SET, composition: first },
      { compose: async () => later.shift() ?? [], log: silentLog },
    );
    for (let count = 0; count < 8; count += 1) await swap.change({ set: SET });
    expect([swap.retiring(), closed]).to.deep.equal([8, []]);
    await swap.change({ set: SET });
    await eventually(() => swap.retiring() === 1);
    expect(closed).to.have.members(["0", "1", "2", "3", "4", "5", "6", "7"]);
    await swap.close();
    expect(closed).to.have.members(sets.map((_, at) => `${at}`));
  });

  it("leaves offers of the former set on record until its last call has ended, and not until its last job has", async () => {
    const ended: string[] = [];
    const former: Composition = {
      ...compose(async () => {}),
      drain: () => new Promise(() => {}),
      endOffers: () => void ended.push("offers"),
      close: async () => void ended.push("all"),
    };
    const next = compose(async () => {});
    const swap = createSwap({ set: SET, composition: former }, { compose: async () => next, log: silentLog });
    const response = new EventEmitter();
    swap.listener({} as IncomingMessage, response as ServerResponse);
    await swap.change({ set: SET });
    expect(ended).to.deep.equal([]);
    response.emit("close");
    await eventually(() => ended.length > 0);
    expect(ended).to.deep.equal(["offers"]);
    await swap.close();
  });

  it("does not come where one of several services could not be paid any more; a new one may be unpayable", async () => {
    const of = (ids: readonly string[], lost: readonly string[], closed: string[] = []): Composition => ({
      ...compose(async () => {}),
      services: ids.map((id) => ({ manifest: { id } })) as unknown as Composition["services"],
      unsellable: () => lost,
      ready: async () => ({ store_reason: "its store is away" }) as Awaited<ReturnType<Composition["ready"]>>,
      close: async () => void closed.push("refused"),
    });
    const closed: string[] = [];
    const offered = [of(["a", "b"], ["b"], closed), of(["a", "b", "c"], ["c"])];
    const swap = createSwap(
      { set: SET, composition: of(["a", "b"], []) },
      { compose: async () => offered.shift() ?? [], log: silentLog },
    );
    const former = swap.current().composition;
    const refused = await swap.change({ set: SET }).catch(({ message }: Error) => message);
    expect(refused).to.equal("b could not be paid on any rail (its store is away)");
    expect([swap.current().composition === former, closed]).to.deep.equal([true, ["refused"]]);
    await swap.change({ set: SET });
    expect(swap.current().composition.unsellable()).to.deep.equal(["c"]);
    await swap.close();
  });

  it("does not come after the end of the shop, when nothing would close the new set", async () => {
    const left: Composition[] = [];
    const next = async (): Promise<Composition> => {
      left.push(compose(async () => {}));
      return left[0] as Composition;
    };
    const swap = createSwap({ set: SET, composition: compose(async () => {}) }, { compose: next, log: silentLog });
    await swap.close();
    expect(await swap.change({ set: SET }).catch(({ code }: { code: string }) => code)).to.equal("unavailable");
    expect(left).to.deep.equal([]);
  });
});
