import { expect } from "chai";
import type { OfferHistory, OfferSet } from "../../../runtime/core/payments/offer-history.ts";
import { createOffers } from "../../../runtime/core/payments/offers.ts";
import type { Service } from "../../../runtime/core/service.ts";
import type { Payment } from "../../../runtime/core/x402/read-payment.ts";
import { createScriptedRail } from "../../support/chains/scripted-rail.ts";
import { createPolygonRail, toSite } from "../../support/sellers/dice.ts";
import { thrown } from "../../support/thrown.ts";

const manifest = { id: "roll", title: "Roll", description: "Rolls.", tags: [], price: "0.001" };
const roll = { manifest, path: "/v1/roll" } as unknown as Service; // All that offers read of one.

describe("new offers", () => {
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

describe("the earlier offers of rails that are retired", () => {
  it("are paid at a door that names its networks where they are in dollars, and not in another currency", async () => {
    const retired = [createScriptedRail(), createPolygonRail()].map((rail) => ({ ...rail, isRetired: true as const }));
    const toOffer = ({ manifest: { network, asset }, payTo }: (typeof retired)[number]) => ({
      scheme: "exact",
      network,
      asset,
      amount: "1000",
      payTo,
      maxTimeoutSeconds: 300,
      extra: { offerId: "0".repeat(16) },
    });
    const [dollars, yen] = retired.map(toOffer);
    const history = { publish: async () => {}, earlier: async () => [dollars, yen] as never, close() {} };
    const offers = createOffers({ site: toSite(retired), services: [roll], rails: retired, history });
    const toPayment = (accepted = dollars) =>
      ({
        x402Version: 2,
        scheme: "exact",
        network: accepted?.network,
        accepted,
        authorization: {},
      }) as unknown as Payment;
    const door = { resource: "https://shop.test/mcp", networks: ["solana:one"] };
    expect(await offers.match(roll, toPayment(), door)).to.deep.equal(dollars);
    expect(await offers.match(roll, toPayment(yen), door)).to.equal("unsupported_network");
    const { networks: _, ...every } = door;
    expect(await offers.match(roll, toPayment(yen), every)).to.deep.equal(yen);
  });
});
