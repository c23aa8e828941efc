import { expect } from "chai";
import { Problem } from "../../../runtime/api/problem.ts";
import { isAway, refuses } from "../../support/chains/scripted-rail.ts";
import { openShop, ROLL } from "../../support/sellers/shop.ts";
import { VERSIONS } from "../support/endpoint-stage.ts";
import { expectChallenge } from "./served/support/challenge.ts";
import { decode, type Loose, openStall, type Stall } from "./served/support/stall.ts";

const NAMED_OR_NOT = [...VERSIONS, ""];
const INPUT = { low: 1, high: 6 };

describe("a paid tool", () => {
  let stall: Stall;
  beforeEach(async () => {
    stall = await openStall();
  });
  afterEach(() => stall.close());

  const paidBy = (payment: unknown, options: object = {}) =>
    stall.call("roll", INPUT, { meta: { "x402/payment": payment }, ...options });

  describe("that fails", () => {
    const problemOf = ({ body, status }: Awaited<ReturnType<Stall["call"]>>): Loose => {
      expect(status).to.equal(200);
      expect(body.result.isError).to.equal(true);
      expect(body.result, "no structuredContent that a client would hold to the schema").not.to.have.property(
        "structuredContent",
      );
      return JSON.parse(body.result.content[0].text);
    };

    it("does not say that a payment which is over has cost nothing: an earlier call may have taken it", async () => {
      const { payload, ...paid } = await stall.pay("roll");
      const authorization = { ...payload.authorization, validBefore: "1" };
      const refused = await paidBy({ ...paid, payload: { ...payload, authorization } });
      expect(expectChallenge(refused, "payment_expired").content[0].text)
        .to.include("; this call was not charged, but an earlier one with the same payment may have been.")
        .and.not.to.include("nothing was charged");
    });

    it("names the networks that this door takes, and no others", async () => {
      const payment = await stall.pay("roll");
      const errorOf = async (changes: object): Promise<string> =>
        (await paidBy({ ...payment, ...changes })).body.result.structuredContent.error;
      const taken = "must be one of eip155:8453, solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
      const version1 = { x402Version: 1, accepted: undefined, scheme: "exact" };
      const cosmos = { ...payment.accepted, network: "cosmos:x" };
      expect([
        await errorOf({ accepted: cosmos }),
        await errorOf({ ...version1, network: "x" }),
        await errorOf({ ...version1, network: "polygon" }),
      ]).to.deep.equal([
        `unsupported_network: accepted.network is cosmos:x, ${taken}`,
        "unsupported_network: network is x, must be one of base, solana",
        `unsupported_network: network is eip155:137, ${taken}`,
      ]);
    });

    it("is too large before anybody is asked to pay, and not only once the payment is in the message", async () => {
      const { bodyBytes } = stall.parts.services[0]!;
      const call = (bytes: number, meta: object = {}) =>
        stall.call("roll", { ...INPUT, junk: "x".repeat(bytes) }, { meta });
      for (const more of [-1024, 4096, 7168, 12_288, 15_872, 16_384]) {
        const asked = await call(bodyBytes + more);
        if (more > 8192) expect(problemOf(asked).code, String(more)).to.equal("payload-too-large");
        else {
          expect(asked.body.result.structuredContent, String(more)).to.have.property("accepts");
          const paid = await call(bodyBytes + more, { "x402/payment": await stall.pay("roll") });
          expect(paid.body.result.isError ?? false, JSON.stringify(paid.body).slice(0, 300)).to.equal(false);
        }
      }
    });

    it("needs no room for a payment where a wallet signs in for a free call", async () => {
      const { manifest, ...roll } = stall.parts.services[0]!;
      const services = [{ ...roll, manifest: { ...manifest, free: { calls: 1, per: "day" as const } } }];
      const giving = await openStall({ services });
      const input = { ...INPUT, junk: "x".repeat(roll.bodyBytes + 8192) };
      expect(problemOf(await giving.call("roll", input)).code).to.equal("payload-too-large");
      const { body } = await giving.call("roll", input, { meta: { "x402/sign-in-with-x": {} } });
      expect(body.result.structuredContent?.error, "its proof is looked at").to.match(/^sign_in_refused: /);
      giving.close();
    });

    it("checks the arguments before anybody is asked or charged, and names every fault", async () => {
      const payment = await stall.pay("roll");
      const options = { meta: { "x402/payment": payment } };
      const { detail } = problemOf(await stall.call("roll", { low: "x", count: 0 }, options));
      expect(detail.map(({ loc }: Loose) => loc.join("."))).to.have.members(["body.low", "body.high", "body.count"]);
      expect(problemOf(await stall.call("roll", { low: 6, high: 1 }, options)).detail[0].msg).to.match(/high must not/);
      expect(stall.rails.base.asked).to.include({ verify: 0, settle: 0 });
      expect((await stall.call("roll", INPUT, options)).body.result, "the payment is still good").not.to.have.property(
        "isError",
      );
    });

    it("is not charged when its handler fails, and says what went wrong", async () => {
      stall.handler = () => {
        throw new Problem("upstream-failed", "The dice fell off the table", { retryAfter: 7 });
      };
      const answer = await paidBy(await stall.pay("roll"));
      expect(problemOf(answer)).to.deep.include({
        code: "upstream-failed",
        detail: "The dice fell off the table",
        retry_after: 7,
      });
      expect(answer.calls[0]?.problem).to.be.instanceOf(Problem);
      expect(stall.rails.base.asked.settle).to.equal(0);
    });

    it("keeps what it did not expect to itself, and gives it to the log", async () => {
      stall.handler = () => {
        throw new TypeError("a secret");
      };
      const answer = await paidBy(await stall.pay("roll"));
      const problem = problemOf(answer);
      expect(problem).to.include({ code: "internal" }).and.have.property("request_id");
      expect(JSON.stringify(answer.body)).not.to.include("secret");
      expect(String(answer.calls[0]?.problem?.options.cause)).to.include("a secret");
    });

    it("is never called unpaid while a settlement's outcome is unknown", async () => {
      stall.rails.base.script.settle = isAway;
      const answer = await paidBy(await stall.pay("roll"));
      expect(problemOf(answer)).to.include({ code: "settlement-unknown" });
      expect(answer.headers).not.to.have.property("payment-required");
    });

    it("has the receipt in its result and in the header when the money has moved first", async () => {
      const shop = await openShop();
      shop.handler = () => {
        throw new Problem("upstream-failed", "The dice fell off the table");
      };
      const payment = decode(await shop.pay("/v1/echo", { resource: undefined }));
      const params = { name: "echo", arguments: ROLL, _meta: { "x402/payment": payment } };
      const response = await shop.post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/call", params });
      const { result } = (await response.json()) as Loose;
      expect(JSON.parse(result.content[0].text)).to.include({ code: "paid-not-delivered" });
      expect(result._meta["x402/payment-response"]).to.include({ success: true });
      expect(shop.receipt(response)).to.deep.equal(result._meta["x402/payment-response"]);
      await shop.close();
    });

    it("withholds the result when the settlement fails, and says why in the challenge and the receipt", async () => {
      stall.handler = () => ({ value: 424242 });
      stall.rails.base.script.settle = refuses();
      const answer = await paidBy(await stall.pay("roll"));
      const result = expectChallenge(answer, "insufficient_funds");
      expect(result._meta["x402/payment-response"]).to.include({ success: false, errorReason: "insufficient_funds" });
      expect(decode(answer.headers["payment-response"])).to.include({ success: false });
      expect(JSON.stringify(answer)).not.to.include("424242");
    });

    it("is never free while no rail in dollars is up", async () => {
      const closed = await openStall({}, ["base", "solana"]);
      const problem = problemOf(await closed.call("roll"));
      expect(problem).to.include({ code: "unavailable" }).and.have.property("retry_after");
      expect(closed.executions).to.equal(0);
      closed.close();
    });
  });

  describe("whose caller goes away", () => {
    it("is stopped and not charged before the settlement, in every era", async () => {
      for (const version of NAMED_OR_NOT) {
        const gone = new AbortController();
        let aborted = false;
        stall.handler = (_input, { signal }) => {
          signal.addEventListener("abort", () => {
            aborted = true;
          });
          gone.abort();
          return new Promise(() => {});
        };
        const { body } = await paidBy(await stall.pay("roll"), { version, signal: gone.signal });
        expect(JSON.parse(body.result.content[0].text)).to.include({ code: "unavailable" });
        expect(aborted).to.equal(true);
      }
      expect(stall.rails.base.asked.settle).to.equal(0);
    });
  });
});
