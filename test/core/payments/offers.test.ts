import { expect } from "chai";
import type { PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { openShop, type Shop } from "../../support/sellers/shop.ts";
import type { PayOptions } from "../../support/sellers/signed.ts";

const ROLL = { low: 1, high: 6 };
const FOREIGN = `0x${"f0".repeat(20)}`;

describe("a payment that fits no offer", () => {
  let shop: Shop;
  before(async () => {
    shop = await openShop();
  });
  after(() => shop.close());

  const sent = async (options: PayOptions): Promise<Response> =>
    shop.post("/v1/roll", ROLL, { "payment-signature": await shop.pay("/v1/roll", options) });
  const changed = (parts: Partial<PaymentRequirements>): PayOptions => ({
    change: (offer) => ({ ...offer, ...parts }),
  });

  const wrong: Readonly<Record<string, PayOptions>> = {
    "is signed to a foreign recipient": { signedTo: FOREIGN },
    "names a foreign recipient": {
      ...changed({ payTo: FOREIGN }),
      signedTo: "0x2222222222222222222222222222222222222222",
    },
    "names a foreign recipient, and is signed to it": changed({ payTo: FOREIGN }),
    "is signed for less": { value: "999" },
    "is signed for more": { value: "1001" },
    "names another amount": { ...changed({ amount: "999" }), value: "1000" },
    "names another asset": changed({ asset: FOREIGN }),
    "names another scheme": changed({ scheme: "upto" }),
    "names another network": changed({ network: "eip155:1" }),
    "names a longer time": changed({ maxTimeoutSeconds: 301 }),
    "names another offer": { change: (offer) => ({ ...offer, extra: { ...offer.extra, offerId: "0".repeat(16) } }) },
  };
  for (const [what, options] of Object.entries(wrong))
    it(`is refused, and shown to nobody, because it ${what}`, async () => {
      const response = await sent(options);
      expect(response.status).to.equal(402);
      const error = what === "names another network" ? "unsupported_network" : "no_matching_offer";
      expect(await response.json()).to.have.property("error", error);
      expect([shop.executions, shop.rail.asked.verify, shop.rail.asked.settle]).to.deep.equal([0, 0, 0]);
    });

  it("is refused in version 1, too, when another recipient or amount is signed", async () => {
    for (const options of [{ signedTo: FOREIGN }, { value: "999" }]) {
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": await shop.payV1("/v1/roll", options) });
      expect(response.status).to.equal(402);
      expect(await response.json()).to.include({ x402Version: 1, error: "no_matching_offer" });
    }
    expect([shop.executions, shop.rail.asked.verify]).to.deep.equal([0, 0]);
  });

  it("is not this one", async () => {
    const response = await sent({});
    expect(response.status).to.equal(200);
    expect(shop.executions).to.equal(1);
  });
});
