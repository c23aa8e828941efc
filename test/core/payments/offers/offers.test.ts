import { expect } from "chai";
import type { OfferHistory, OfferSet } from "../../../../runtime/core/payments/offers/history.ts";
import { createOffers } from "../../../../runtime/core/payments/offers/offers.ts";
import type { Service } from "../../../../runtime/core/service.ts";
import type { Payment } from "../../../../runtime/core/x402/read-payment.ts";
import type { PaymentRequirements } from "../../../../runtime/core/x402/x402.ts";
import { createScriptedRail } from "../../../support/chains/scripted-rail.ts";
import { createPolygonRail, toSite } from "../../../support/sellers/dice.ts";
import { openShop, ROLL, type Shop } from "../../../support/sellers/shop.ts";
import type { PayOptions } from "../../../support/sellers/signed.ts";
import { thrown } from "../../../support/thrown.ts";

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
  const reasons: Readonly<Record<string, RegExp>> = {
    "is signed to a foreign recipient": /: the signed recipient is 0x(?:f0){20}, the offer says 0x\w{40}$/,
    "names a foreign recipient": /: payTo is 0x(?:f0){20}, the offer says 0x\w{40}$/,
    "names a foreign recipient, and is signed to it": /: payTo is 0x(?:f0){20}, the offer says 0x\w{40}$/,
    "is signed for less": /: the signed amount is 999, the offer says 1000$/,
    "is signed for more": /: the signed amount is 1001, the offer says 1000$/,
    "names another amount": /: amount is 999, the offer says 1000$/,
    "names another asset": /: asset is 0x(?:f0){20}, the offer says 0x\w{40}$/,
    "names another scheme": /: scheme is upto, the offer says exact$/,
    "names another network": /: accepted.network is eip155:1, must be one of eip155:8453$/,
    "names a longer time": /: maxTimeoutSeconds is 301, the offer says 300$/,
    "names another offer": /: extra.offerId is 0{16}, the offer says [0-9a-f]{16}$/,
  };
  for (const [what, options] of Object.entries(wrong))
    it(`is refused, and shown to nobody, because it ${what}`, async () => {
      const response = await sent(options);
      expect(response.status).to.equal(402);
      const { error } = (await response.json()) as { error: string };
      expect(error).to.match(what === "names another network" ? /^unsupported_network: / : /^no_matching_offer: /);
      expect(error).to.match(reasons[what] as RegExp);
      expect([shop.executions, shop.rail.asked.verify, shop.rail.asked.settle]).to.deep.equal([0, 0, 0]);
    });

  it("is refused where it names an offer in more levels of JSON than can be written again", async () => {
    const change = (offer: PaymentRequirements) => ({ ...offer, extra: { ...offer.extra, offerId: "DEEP" } });
    const payment = Buffer.from(await shop.pay("/v1/roll", { change }), "base64").toString();
    const deep = payment.replace('"DEEP"', "[".repeat(4800) + "]".repeat(4800));
    const headers = { "payment-signature": Buffer.from(deep).toString("base64") };
    const response = await shop.post("/v1/roll", ROLL, headers);
    expect(response.status).to.equal(402);
    const { error } = (await response.json()) as { error: string };
    expect(error).to.match(/: extra.offerId is JSON of too many levels, the offer says [0-9a-f]{16}$/);
  });

  it("is refused in version 1, too, when another recipient or amount is signed", async () => {
    for (const options of [{ signedTo: FOREIGN }, { value: "999" }]) {
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": await shop.payV1("/v1/roll", options) });
      expect(response.status).to.equal(402);
      const { x402Version, error } = (await response.json()) as { x402Version: number; error: string };
      expect(x402Version).to.equal(1);
      expect(error).to.match(/^no_matching_offer: the signed (?:amount is 999|recipient is 0xf0\w+), the offer says/);
    }
    expect([shop.executions, shop.rail.asked.verify]).to.deep.equal([0, 0]);
  });

  it("is not this one", async () => {
    const response = await sent({});
    expect(response.status).to.equal(200);
    expect(shop.executions).to.equal(1);
  });
});

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

  it("say what is signed for in the site's words, whatever the facilitator says", async () => {
    const offers = open(async () => {});
    await offers.update(new Map([["base", { state: "up", extra: { name: "Another", version: "9" } } as const]]));
    expect(offers.of(roll)[0]?.extra).to.include(rails[0]?.manifest.domain);
  });

  it("are named by a path with parameters, too, which a URL writes otherwise than a manifest", async () => {
    const dated = { ...roll, path: "/v1/roll/{day}" };
    const offers = open(async () => {});
    await offers.update(up);
    const resource = `https://shop.test${dated.path}`;
    const [offer] = offers.of(dated);
    const accepted = { ...offer, extra: {} };
    const payment = { x402Version: 2, scheme: "exact", network: offer?.network, accepted, authorization: {} };
    const named = { ...payment, resourceUrl: resource } as unknown as Payment;
    expect(await offers.match(dated, named, { resource })).to.equal(offer);
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

describe("the offers at a door that names its networks, where a network has tokens of two currencies", () => {
  const POLYGON = "eip155:137";
  const usdc = createScriptedRail({ id: "polygon-usdc", network: POLYGON });
  const rails = [createScriptedRail(), createPolygonRail(), usdc];
  const door = { resource: "https://shop.test/mcp", networks: ["eip155:8453", POLYGON] };
  const history = { publish: async () => {}, earlier: async () => [], close() {} };
  const offers = createOffers({ site: toSite(rails), services: [roll], rails, history });
  before(() => offers.update(new Map(rails.map(({ manifest }) => [manifest.id, { state: "up", extra: {} }]))));

  it("are those in dollars, and no other token is taken there", async () => {
    const { accepts } = offers.challenge(roll, door.resource, door).required;
    const [base, yen, dollars] = offers.of(roll);
    expect(accepts).to.deep.equal([base, dollars]);
    const match = (accepted = dollars) => {
      const { network } = accepted ?? {};
      const payment = { x402Version: 2, scheme: "exact", network, accepted, authorization: {} };
      return offers.match(roll, payment as unknown as Payment, door);
    };
    expect([await match(), await match(yen)]).to.deep.equal([dollars, "no_matching_offer"]);
  });
});

describe("a payment for a service whose path has a parameter", () => {
  const path = "/v1/dice/{id}/rolls";
  const service = { ...roll, path } as typeof roll;
  const rails = [createScriptedRail()];
  const history = { publish: async () => {}, earlier: async () => [], close() {} };
  const offers = createOffers({ site: toSite(rails), services: [service], rails, history });
  before(() => offers.update(new Map([["base", { state: "up", extra: {} }]])));

  it("names it by the path of the challenge, or by the one that was called, and by no other", async () => {
    const [accepted] = offers.of(service);
    const { offerId: _, ...extra } = accepted?.extra ?? {};
    const match = (resourceUrl: string) => {
      const payment = { x402Version: 2, scheme: "exact", network: accepted?.network, authorization: {}, resourceUrl };
      const loose = { ...payment, accepted: { ...accepted, extra } } as unknown as Payment;
      return offers.match(service, loose, { resource: `https://shop.test${path}`, networks: undefined });
    };
    for (const named of [path, "/v1/dice/%7Bid%7D/rolls", "/v1/dice/42/rolls?high=6", "/v1/dice/a%2Fb/rolls"])
      expect(await match(`https://shop.test${named}`), named).to.equal(accepted);
    for (const named of [
      "/v1/dice//rolls",
      "/v1/dice/42",
      "/v1/dice/42/6/rolls",
      "/v1/coin/42/rolls",
      "/v1/dice/42/rolls/",
    ])
      expect(await match(`https://shop.test${named}`), named).to.equal("wrong_resource");
    expect(await match("")).to.equal("wrong_resource");
  });
});
