import { expect } from "chai";
import type { OfferHistory, OfferSet } from "../../../runtime/core/payments/offer-history.ts";
import { createOffers } from "../../../runtime/core/payments/offers.ts";
import type { Service } from "../../../runtime/core/service.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { toSite } from "../../support/sellers/dice.ts";
import { thrown } from "../../support/thrown.ts";

describe("new offers", () => {
  const manifest = { id: "roll", title: "Roll", description: "Rolls.", tags: [], price: "0.001" };
  const roll = { manifest, path: "/v1/roll" } as unknown as Service; // All that offers read of one.
  const rails = [createScriptedRail()];
  const up = new Map([["base", { state: "up", extra: {} } as const]]);
  const open = (publish: OfferHistory["publish"]) =>
    createOffers({
      site: toSite(rails),
      services: [roll],
      rails,
      history: { publish, earlier: async () => [], close() {} },
    });

  it("are made only once they are on record: a challenge stays payable whatever becomes of this process", async () => {
    const recorded = Promise.withResolvers<void>();
    const sets: OfferSet[] = [];
    const offers = open(async (set) => {
      sets.push(set);
      await recorded.promise;
    });
    const updated = offers.update(up);
    expect([sets.length, offers.of(roll)]).to.deep.equal([1, []]);
    recorded.resolve();
    await updated;
    expect(offers.of(roll)).to.deep.equal(sets[0]?.get("roll"));
    expect(offers.of(roll)).to.have.length(1);
  });

  it("are not made where they cannot be put on record", async () => {
    const fault = new Error("the store is away");
    const offers = open(() => Promise.reject(fault));
    expect(await thrown(offers.update(up))).to.equal(fault);
    expect(offers.of(roll)).to.deep.equal([]);
  });
});
