import { expect } from "chai";
import { parse, stringify } from "yaml";
import { createBookkeeping } from "../../../runtime/cli/serve/bookkeeping.ts";
import { readPrices } from "../../../runtime/core/notes/prices.ts";
import { silentLog } from "../../../runtime/core/silent-log.ts";
import type { OpenStore } from "../../../runtime/drivers/store/keyv.ts";
import { TOSS } from "../../core/set/served-directory.ts";
import { findFreePort } from "../../support/free-port.ts";
import { freezeTime } from "../../support/frozen-time.ts";
import { type OperatedShop, openOperatedShop } from "../../support/sellers/operator.ts";
import { json } from "../../support/sellers/stock-buyer.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";

describe("a shop that starts", () => {
  let shop: OperatedShop | undefined;
  after(() => shop?.close());

  it("lets buyers wait who come before it can sell, and turns nobody away", async () => {
    const port = await findFreePort();
    const [opened, first] = await Promise.all([openOperatedShop(undefined, { PORT: String(port) }), askFirst(port)]);
    shop = opened;
    expect(first.status).to.equal(402);
    expect(((await first.json()) as { accepts: unknown[] }).accepts).not.to.have.length(0);
  });

  it("is ready without a rail, where all that it serves is free", async () => {
    const { refunds: _, ...site } = parse(TOSS["manifests/_site.yaml"] as string);
    const free = (TOSS["manifests/toss.yaml"] as string).replace(/^price: .*\n/m, "");
    const files = { "manifests/_site.yaml": stringify({ ...site, rails: [] }), "manifests/toss.yaml": free };
    const open = await openOperatedShop({ ...TOSS, ...files });
    const [called, ready] = await Promise.all([
      fetch(`${open.running.url}/v1/toss`, json({})),
      fetch(`${open.running.url}/ready`),
    ]);
    const { status } = (await ready.json()) as { status: string };
    await open.close();
    expect([called.status, ready.status, status]).to.deep.equal([200, 200, "ready"]);
  });

  it("records its prices as of then, also where the store takes no writes for some seconds", async () => {
    const time = freezeTime();
    const kept = createMemoryStore();
    let isAway = true;
    const set: typeof kept.set = (...entry) => (isAway ? Promise.reject(new Error("away")) : kept.set(...entry));
    const store = { ...kept, set, forget: async () => false } as unknown as OpenStore;
    const books = createBookkeeping({ site: {}, store, clock: { now: Date.now }, log: silentLog });
    const at = Date.now();
    books.start([{ manifest: { id: "roll", price: "0.001" } as never }]);
    await time.pass(4000);
    isAway = false;
    await time.pass(2000);
    time.thaw();
    await books.close();
    expect(await readPrices(store, "roll")).to.deep.equal([{ at, price: "0.001" }]);
  });

  it("tries no more to record its prices once it has closed", async () => {
    const time = freezeTime();
    let tries = 0;
    const set = async (): Promise<void> => {
      tries += 1;
      throw new Error("away");
    };
    const store = { ...createMemoryStore(), set, forget: async () => false } as unknown as OpenStore;
    const books = createBookkeeping({ site: {}, store, clock: { now: Date.now }, log: silentLog });
    books.start([{ manifest: { id: "roll", price: "0.001" } as never }]);
    await time.pass(6000);
    await books.close();
    const tried = tries;
    await time.pass(20_000);
    time.thaw();
    expect([tried, tries]).to.deep.equal([2, 2]);
  });

  /** The answer to the first request that the port accepts. */
  async function askFirst(port: number): Promise<Response> {
    for (;;) {
      const answer = await fetch(`http://127.0.0.1:${port}/v1/toss`, json({})).catch(() => undefined);
      if (answer) return answer;
      await new Promise((done) => setImmediate(done));
    }
  }
});
