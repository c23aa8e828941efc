import { expect } from "chai";
import { move } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../../support/sellers/shop.ts";

const receiptInVersion1 = ({ headers }: Response): unknown =>
  JSON.parse(Buffer.from(headers.get("x-payment-response") ?? "", "base64").toString());

describe("a paid request", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  describe("without a payment", () => {
    it("is challenged whatever its body looks like, and nothing is run or read", async () => {
      for (const body of ["", "{", '{"low":"x"}', "[]", JSON.stringify(ROLL)]) {
        const response = await fetch(`${shop.url}/v1/roll`, { method: "POST", body });
        expect(response.status, body).to.equal(402);
        expect(response.headers.get("cache-control")).to.equal("no-store");
      }
      expect(shop.executions).to.equal(0);
      expect(shop.rail.asked.verify).to.equal(0);
    });

    it("gets the deprecated V1 challenge on ?x402Version=1", async () => {
      const response = await fetch(`${shop.url}/v1/roll?x402Version=1`, { method: "POST" });
      expect(response.status).to.equal(402);
      const body = (await response.json()) as { x402Version: number; accepts: Record<string, unknown>[] };
      expect(body.x402Version).to.equal(1);
      expect(body.accepts[0]).to.include({
        network: "base",
        maxAmountRequired: "1000",
        resource: `${shop.url}/v1/roll`,
      });
    });
  });

  describe("with a payment that cannot be taken", () => {
    const refused = async (payment: string, error: string): Promise<void> => {
      const response = await shop.post("/v1/roll", ROLL, { "payment-signature": payment });
      expect(response.status).to.equal(402);
      const { error: said } = (await response.json()) as { error: string };
      expect(said).to.match(new RegExp(`^${error}(?:: |$)`));
      expect(shop.rail.asked.verify, "the facilitator is not asked").to.equal(0);
    };

    it("is challenged again when the payment cannot be decoded", () => refused("!!!", "invalid_payload"));

    it("cannot be bought with a payment that was challenged for another route of the same price", async () => {
      const payment = await shop.pay("/v1/echo");
      await refused(payment, "wrong_resource");
    });

    it("cannot be bought by dropping the name of the resource from such a payment", async () => {
      const payment = await shop.pay("/v1/echo", { resource: undefined });
      await refused(payment, "no_matching_offer");
      const bare = await shop.pay("/v1/echo", {
        resource: undefined,
        change: ({ extra, ...offer }) => ({ ...offer, extra: {} }),
      });
      await refused(bare, "wrong_resource");
    });

    it("is challenged again, with the reason, when the facilitator says no", async () => {
      shop.rail.script.verify = () => ({ isValid: false, invalidReason: "invalid_exact_evm_insufficient_balance" });
      const response = await shop.buy("/v1/roll", ROLL);
      expect(response.status).to.equal(402);
      expect(await response.json()).to.have.property(
        "error",
        "insufficient_funds: invalid_exact_evm_insufficient_balance",
      );
      expect(shop.executions).to.equal(0);
    });
  });

  describe("after the terms have changed", () => {
    it("takes payments for challenges that were made before, also across a restart", async () => {
      const old = [await shop.pay("/v1/roll"), await shop.pay("/v1/roll")];
      await shop.restart({ price: "0.002" });
      const challenge = (await (await fetch(`${shop.url}/v1/roll`, { method: "POST" })).json()) as {
        accepts: { amount: string }[];
      };
      expect(challenge.accepts[0]?.amount).to.equal("2000");
      expect((await shop.post("/v1/roll", ROLL, { "payment-signature": old[0] as string })).status).to.equal(200);
      shop.clock.advance(8 * 60_000);
      const late = await shop.post("/v1/roll", ROLL, { "payment-signature": old[1] as string });
      expect(late.status).to.equal(402);
    });

    it("takes V1 payments for the earlier price too", async () => {
      const old = await shop.payV1("/v1/roll");
      await shop.restart({ price: "0.002" });
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": old });
      expect(response.status).to.equal(200);
    });
  });

  describe("of a V1 payer", () => {
    it("is answered with X-PAYMENT-RESPONSE too, and settled in the form of version 2", async () => {
      let settled: { x402Version?: number; accepted?: { amount?: string } } = {};
      shop.rail.script.settle = (payment, offer) => {
        settled = payment;
        return move(shop.rail, payment, offer);
      };
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": await shop.payV1("/v1/roll") });
      expect(response.status).to.equal(200);
      expect(receiptInVersion1(response)).to.deep.equal({ ...shop.receipt(response), network: "base" });
      expect(settled).to.deep.include({ x402Version: 2 });
      expect(settled.accepted?.amount).to.equal("1000");
    });

    it("is told in X-PAYMENT-RESPONSE that the money has moved, when what was paid first fails", async () => {
      shop.handler = () => Promise.reject(new Error("It fell off the table"));
      const response = await shop.post("/v1/echo", ROLL, { "x-payment": await shop.payV1("/v1/echo") });
      expect(response.status).to.equal(502);
      expect(receiptInVersion1(response)).to.include({ success: true, network: "base" });
    });

    it("gets V1 challenges when the payment is refused", async () => {
      const response = await shop.post("/v1/roll", ROLL, { "x-payment": "!!!" });
      expect(response.status).to.equal(402);
      expect(await response.json()).to.include({
        x402Version: 1,
        error: "invalid_payload: it is not base64 of a JSON object",
      });
    });
  });
});
