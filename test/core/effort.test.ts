import { expect } from "chai";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";
import { type NotedWork, noteWork } from "../support/store/note-work.ts";

describe("what a paid call asks of the store", () => {
  let shop: Shop;
  let works: NotedWork[];
  beforeEach(async () => {
    const store = createMemoryStore();
    works = noteWork(store);
    shop = await openShop({ store, patience: { confirmAfterMs: 600_000 } });
  });
  afterEach(() => shop.close());

  const buy = async (): Promise<NotedWork[]> => {
    const payment = await shop.pay("/v1/roll");
    works.length = 0;
    expect((await shop.post("/v1/roll", ROLL, { "payment-signature": payment })).status).to.equal(200);
    return works.filter(({ method, word }) => method !== "set" || word !== "lease"); // Leases of a slow call are renewed.
  };

  it("has to reach the disk once: the reservation, before the settlement", async () => {
    const durable = (await buy()).filter(({ isDurable }) => isDurable);
    expect(durable.map(({ word }) => word).sort()).to.deep.equal(["open", "payment"]);
    expect(new Set(durable.map(({ turn }) => turn)).size, "both in one transaction").to.equal(1);
  });

  it("is written in four transactions, of which the answer waits for three", async () => {
    const written = Map.groupBy(
      (await buy()).filter(({ method }) => method !== "get"),
      ({ turn }) => turn,
    );
    const words = [...written.values()].map((works) => [...new Set(works.map(({ word }) => word))].sort().join(" "));
    expect(words).to.deep.equal(["lease", "in-flight", "bought open payment", "bought in-flight lease payment"]);
  });

  it("is the same work however much the payer has bought before", async () => {
    const toLines = (some: NotedWork[]): string[] => some.map(({ method, word }) => `${method} ${word}`).sort();
    const bytesOf = (some: NotedWork[]): number => some.reduce((sum, { bytes }) => sum + bytes, 0);
    const second = (await buy()) && (await buy());
    for (let at = 0; at < 60; at += 1) await buy();
    const later = await buy();
    expect(toLines(later)).to.deep.equal(toLines(second));
    expect(bytesOf(later)).to.be.closeTo(bytesOf(second), 20); // Counters have more digits.
  });
});
