import { expect } from "chai";
import { explainOffer } from "../../../../runtime/core/payments/offers/explain.ts";
import { createOffers, type Offers } from "../../../../runtime/core/payments/offers/offers.ts";
import { isSameAddress } from "../../../../runtime/core/rails/tokens.ts";
import type { Service } from "../../../../runtime/core/service.ts";
import type { Manifest } from "../../../../runtime/core/set/manifest.ts";
import type { RailStatus } from "../../../../runtime/core/x402/rails.ts";
import type { Payment } from "../../../../runtime/core/x402/read-payment.ts";
import type { PaymentRequirements } from "../../../../runtime/core/x402/x402.ts";
import { createScriptedRail, PAY_TO } from "../../../support/chains/scripted-rail.ts";
import { createPolygonRail, toSite } from "../../../support/sellers/dice.ts";

const [BASE, POLYGON] = ["eip155:8453", "eip155:137"] as const;
const REST = "https://shop.test/v1/roll";
const MCP = "https://shop.test/mcp";
const UP: RailStatus = { state: "up", extra: {} };

const toService = (id: string, price?: string): Service => {
  const manifest: Partial<Manifest> = {
    id,
    title: id,
    description: `The service ${id}.`,
    tags: ["dice"],
    ...(price !== undefined && { price }),
  };
  return { manifest, path: `/v1/${id}` } as unknown as Service; // All that offers read of one.
};

describe("the offers of a service", () => {
  const [roll, free] = [toService("roll", "0.001"), toService("free")];
  const rails = [createScriptedRail(), createPolygonRail()];
  let offers: Offers;
  let earlier: PaymentRequirements[];
  let readings: number;
  let published: unknown[];
  beforeEach(async () => {
    [earlier, readings, published] = [[], 0, []];
    offers = createOffers({
      site: toSite(rails),
      services: [roll, free],
      rails,
      history: {
        publish: async (set) => void published.push([...set.keys()]),
        earlier: async () => {
          readings += 1;
          return earlier;
        },
        close() {},
      },
      extensionsOf: ({ manifest }, resource) => (resource === MCP ? { about: manifest.id } : undefined),
    });
    await offers.update(both);
  });
  const both = new Map<string, RailStatus>([
    ["base", UP],
    ["polygon", UP],
  ]);
  const first = (): PaymentRequirements => offers.of(roll)[0] as PaymentRequirements;
  const toPayment = (accepted: PaymentRequirements | undefined, more: Partial<Payment> = {}): Payment => ({
    x402Version: accepted ? 2 : 1,
    scheme: "exact",
    network: BASE,
    accepted,
    resourceUrl: undefined,
    payload: {},
    identifier: undefined,
    authorization: {
      id: "1",
      fingerprint: "f",
      amount: 1000n,
      payer: "0x1",
      payTo: PAY_TO,
      validAfter: 0,
      validBefore: 1,
    },
    ...more,
  });
  const matched = (payment: Payment, resource = REST, networks?: readonly string[]) =>
    offers.match(roll, payment, { resource, networks });

  it("are one for each rail that is up, in the site's order, at its own amount, and none where it is free", async () => {
    expect(published).to.deep.equal([["roll", "free"]]);
    expect(offers.of(roll).map(({ network, amount }) => [network, amount])).to.deep.equal([
      [BASE, "1000"],
      [POLYGON, String(10n ** 17n)],
    ]);
    expect(offers.of(free)).to.deep.equal([]);
    const { extra, ...offer } = first();
    expect(offer).to.deep.equal({
      scheme: "exact",
      network: BASE,
      asset: rails[0]?.manifest.asset,
      amount: "1000",
      payTo: PAY_TO,
      maxTimeoutSeconds: 300,
    });
    expect(extra).to.include({ name: "USD Coin", version: "2" });
    expect(extra.offerId).to.match(/^[0-9a-f]{16}$/);
    await offers.update(new Map([["polygon", UP]]));
    expect(offers.of(roll).map(({ network }) => network)).to.deep.equal([POLYGON]);
  });

  it("are signed as one list for each door, also where every challenge has a nonce of its own", async () => {
    const signed: unknown[] = [];
    const history = { publish: async () => {}, earlier: async () => [], close: () => {} };
    const gift = { ...roll, manifest: { ...roll.manifest, free: { calls: 1, per: "day" } } } as Service;
    const own = createOffers({
      site: toSite(rails),
      services: [gift],
      rails,
      history,
      declareSignIn: () => ({ nonce: signed.length }),
      proofs: {
        offers: (_resource, accepts) => {
          signed.push(accepts);
          return { "offer-receipt": { info: {} } };
        },
      },
    });
    await own.update(both);
    const [one, two] = [own.challenge(gift, REST), own.challenge(gift, REST, { error: "free_calls_used" })];
    expect(one.required.extensions?.["sign-in-with-x"]).not.to.deep.equal(two.required.extensions?.["sign-in-with-x"]);
    expect(signed[1]).to.equal(signed[0]);
    own.challenge(gift, MCP, { networks: [BASE] });
    expect(signed[2]).to.deep.equal([own.of(gift)[0]]);
    await own.update(new Map([["base", UP]]));
    own.challenge(gift, REST);
    expect(signed[3]).to.deep.equal(own.of(gift)).and.to.have.length(1);
  });

  it("are in a challenge that is made once for each door, and anew with its reason for each refusal", async () => {
    const challenge = offers.challenge(roll, REST);
    expect(offers.challenge(roll, REST)).to.equal(challenge);
    expect(offers.challenge(roll, MCP)).not.to.equal(challenge);
    expect(challenge.required.error).to.equal("Payment required");
    const refusal = offers.challenge(roll, REST, { error: "payment_expired" });
    expect(refusal.required.error).to.equal("payment_expired");
    expect(offers.challenge(roll, REST)).to.equal(challenge);
    const narrow = offers.challenge(roll, REST, { networks: [POLYGON] });
    expect(narrow.required.accepts.map(({ network }) => network)).to.deep.equal([POLYGON]);
    await offers.update(both);
    expect(offers.challenge(roll, REST)).not.to.equal(challenge);
  });

  it("describe what is sold: with an icon where the address is public, and extensions where a door has some", () => {
    const { required } = offers.challenge(roll, REST);
    expect(required.resource).to.deep.equal({
      url: REST,
      description: "The service roll.",
      mimeType: "application/json",
      serviceName: "Payphone",
      tags: ["dice"],
      iconUrl: "https://shop.test/icon.png",
    });
    expect(required.extensions).not.to.have.property("about");
    expect(offers.challenge(roll, MCP).required.extensions).to.have.property("about", "roll");
    expect(offers.describe(roll, "http://127.0.0.1/v1/roll").resource).not.to.have.property("iconUrl");
  });

  it("are none while no rail is up that the door takes: then it is closed, not free", async () => {
    expect(() => offers.challenge(roll, REST, { networks: [] })).to.throw("No payment rail is up");
    await offers.update(new Map());
    expect(() => offers.challenge(roll, REST))
      .to.throw("No payment rail is up")
      .with.deep.property("options", { retryAfter: 10 });
  });

  it("are matched by a payment in their own words, or in fewer, and no record is read for that", async () => {
    const { offerId: _, ...extra } = first().extra;
    for (const payment of [
      toPayment(first()),
      toPayment({ ...first(), extra }, { resourceUrl: REST }),
      toPayment(undefined),
    ])
      expect(await matched(payment)).to.equal(first());
    const below = "https://shop.test/dice/v1/roll";
    const named = toPayment({ ...first(), extra }, { resourceUrl: below });
    expect(await matched(named, below), "below a path").to.equal(first());
    expect(readings).to.equal(0);
  });

  it("are matched in the payer's own words before the same in others, the current ones first", async () => {
    const plain = first();
    const fee = (feePayer: string) => ({ ...plain, extra: { ...plain.extra, feePayer } });
    earlier = [fee("one"), fee("two")];
    await offers.update(new Map([["base", { state: "up", extra: { feePayer: "three" } }]]));
    expect(await matched(toPayment(fee("three")))).to.deep.equal(fee("three"));
    expect(await matched(toPayment(fee("two")))).to.deep.equal(fee("two"));
    expect(await matched(toPayment(fee("four"))), "as now").to.deep.equal(fee("three"));
    await offers.update(new Map());
    expect(await matched(toPayment(fee("four"))), "as before").to.deep.equal(fee("one"));
  });

  it("are compared by everything but a table in their extra, which nobody repeats to the letter", async () => {
    await offers.update(new Map([["base", { state: "up", extra: { terms: { any: 1 } } }]]));
    earlier = [{ ...first(), extra: { ...first().extra, terms: { any: 2 } } }];
    expect(await matched(toPayment({ ...first(), extra: { ...first().extra, terms: {} } }))).to.equal(first());
    expect(readings).to.equal(0);
  });

  it("are matched by the same addresses in other capitals on EVM, which are only a checksum", async () => {
    const lower = { ...first(), asset: first().asset.toLowerCase(), payTo: first().payTo.toLowerCase() };
    expect(lower).not.to.deep.equal(first());
    expect(await matched(toPayment(lower))).to.equal(first());
    const held = { offers: offers.of(roll), invocation: { resource: REST }, now: 0, leastSeconds: 0 };
    const refused = explainOffer("no_matching_offer", toPayment({ ...lower, maxTimeoutSeconds: 60 }), held);
    expect(refused).to.equal("maxTimeoutSeconds is 60, the offer says 300");
    expect(isSameAddress("solana:1", "AbC", "abc")).to.equal(false);
  });

  it("are matched only at a door that takes the network", async () => {
    expect(await matched(toPayment(first()), REST, [POLYGON])).to.equal("unsupported_network");
    expect(await matched(toPayment(first()), REST, [BASE])).to.equal(first());
  });

  it("are not matched by a payment for another resource, whatever the host is called", async () => {
    const named = (resourceUrl: string, at = REST) => matched(toPayment(first(), { resourceUrl }), at);
    for (const same of [REST, "http://localhost:1/v1/roll", "/v1/roll"]) expect(await named(same)).to.equal(first());
    for (const other of ["https://shop.test/v1/echo", "/v1/echo", MCP])
      expect(await named(other)).to.equal("wrong_resource");
    expect(await named(MCP, MCP)).to.equal(first());
  });

  it("are said to be for another resource with both names, and with what is missing where there is none", () => {
    const held = { offers: offers.of(roll), invocation: { resource: MCP }, now: 0, leastSeconds: 0 };
    const explain = (more: Partial<Payment>) => explainOffer("wrong_resource", toPayment(first(), more), held);
    expect(explain({ resourceUrl: REST })).to.equal(`resource.url is ${REST}, this is ${MCP}`);
    for (const resourceUrl of [undefined, MCP])
      expect(explain({ resourceUrl })).to.equal(
        "neither resource.url nor accepted.extra.offerId says which service is paid for",
      );
  });

  it("are not matched at a door of many services unless the payment names the offer or the service", async () => {
    const { offerId: _, ...extra } = first().extra;
    const loose = { ...first(), extra: { ...extra, offerId: null } }; // As good as none.
    expect(await matched(toPayment(loose), MCP)).to.equal("wrong_resource");
    expect(await matched(toPayment(loose, { resourceUrl: MCP }), MCP)).to.equal("wrong_resource");
    expect(await matched(toPayment(loose, { resourceUrl: REST }), REST)).to.equal(first());
    expect(await matched(toPayment(first()), MCP)).to.equal(first());
    expect(await matched(toPayment(undefined), MCP), "version 1 names nothing").to.equal(first());
  });

  it("are matched where a payment says no amount and no recipient, by what it accepts", async () => {
    const authorization = { ...toPayment(first()).authorization, amount: undefined, payTo: undefined };
    expect(await matched(toPayment(first(), { authorization }))).to.equal(first());
    const dearer = toPayment({ ...first(), amount: "1001" }, { authorization });
    expect(await matched(dearer)).to.equal("no_matching_offer");
  });
});
