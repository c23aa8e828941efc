import { expect } from "chai";
import { nonceOf } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";
import { encode } from "../../support/sellers/signed.ts";

const ID = "pay_0123456789abcdef";

describe("a payer with nothing left who names an earlier purchase", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  const buy = async (options: object = {}, input: object = ROLL): Promise<Response> =>
    shop.retry("/v1/roll", input, await shop.pay("/v1/roll", { identifier: ID, ...options }));
  /** From now on nobody has money; whoever signs with one of these nonces, or with any, is proven. */
  const drain = (isProven: (nonce: string) => boolean = () => true): void => {
    shop.rail.script.verify = () => ({ isValid: false, invalidReason: "insufficient_funds" });
    shop.rail.script.provePayer = async (payload) =>
      isProven(nonceOf({ payload: { ...payload } })) ? "key" : undefined;
  };

  it("gets its answer, without asking the facilitator", async () => {
    const first = await buy();
    drain();
    const asked = shop.rail.asked.verify;
    const again = await buy();
    expect(await again.json()).to.deep.equal(await first.json());
    expect(shop.receipt(again)).to.deep.equal(shop.receipt(first));
    expect([shop.executions, shop.rail.moved.size, shop.rail.asked.verify]).to.deep.equal([1, 1, asked]);
  });

  it("gets its answer while the facilitator cannot be asked", async () => {
    const first = await buy();
    drain();
    shop.rail.script.verify = () => Promise.reject(new Error("away"));
    expect(await (await buy()).json()).to.deep.equal(await first.json());
  });

  it("gets nothing when the signature is not its own", async () => {
    await buy();
    drain(() => false);
    const refused = await buy();
    expect(refused.status).to.equal(402);
    expect(((await refused.json()) as { error: string }).error).to.match(/^insufficient_funds/);
  });

  it("gets nothing when the signature cannot be checked, or belongs to another payer", async () => {
    await buy();
    drain();
    expect((await buy({ from: `0x${"44".repeat(20)}` })).status).to.equal(402);
    shop.rail.script.provePayer = () => Promise.reject(new Error("the node is away"));
    expect((await buy()).status).to.equal(402);
  });

  it("gets nothing by a payment that was settled for something else, which anybody could copy from the chain", async () => {
    await buy();
    const other = await shop.pay("/v1/roll", { identifier: "other_0123456789abcdef" });
    expect((await shop.retry("/v1/roll", { low: 1, high: 9 }, other)).status).to.equal(200);
    drain();
    const payment = JSON.parse(Buffer.from(other, "base64").toString());
    payment.extensions["payment-identifier"].info.id = ID;
    const copied = encode(payment);
    const refused = await shop.retry("/v1/roll", ROLL, copied);
    expect(refused.status).to.equal(409);
    expect(await refused.json()).not.to.have.property("value");
  });

  it("gets nothing by a copy of the settled payment itself once its answer is for its wallet alone", async () => {
    const payment = await shop.pay("/v1/roll", { identifier: ID });
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    drain();
    shop.clock.advance(60 * 60_000);
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(402);
  });

  it("is told 409 for another input, and 402 where nothing was bought under this name", async () => {
    await buy();
    drain();
    expect((await buy({}, { low: 1, high: 7 })).status).to.equal(409);
    expect((await buy({ identifier: "never_0123456789abc" })).status).to.equal(402);
    expect(shop.executions).to.equal(1);
  });

  it("is told that the outcome is unknown while it is, instead of that its wallet is empty", async () => {
    shop.rail.script.settle = () => Promise.reject(new Error("timeout"));
    shop.rail.script.find = () => Promise.reject(new Error("the node is away"));
    expect((await buy()).status).to.equal(503);
    drain();
    expect(await (await buy()).json()).to.have.property("code", "settlement-unknown");
  });
});
