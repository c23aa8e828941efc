import { expect } from "chai";
import { Problem } from "../../runtime/api/problem.ts";
import type { SettleResponse } from "../../runtime/core/x402/x402.ts";
import { isAway, move, refuses } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { openStall } from "../surfaces/mcp/served/support/stall.ts";
import { expectUnknown } from "./support/settlements.ts";

const HASH = `0x${"ab".repeat(32)}`;

describe("a settlement", () => {
  let shop: Shop;
  let payment: string;
  beforeEach(async () => {
    shop = await openShop();
    payment = await shop.pay("/v1/roll");
  });
  afterEach(() => shop.close());

  const send = (): Promise<Response> => shop.post("/v1/roll", ROLL, { "payment-signature": payment });
  const retry = (): Promise<Response> => shop.retry("/v1/roll", ROLL, payment);
  describe("that was refused, on a chain whose node lags behind", () => {
    /** What facilitators in the field say when the money has moved, or is on its way. */
    const doubtful: [reason: string, more?: Partial<SettleResponse>][] = [
      ["invalid_exact_evm_nonce_already_used"],
      ["Missing or invalid parameters.\nDetails: already known"],
      ["HTTP request failed. Details: invalid json"],
      ["invalid_exact_evm_transfer_event_mismatch", { transaction: HASH }],
      ["invalid_exact_evm_transaction_failed", { transaction: HASH }],
      ["invalid_exact_evm_transaction_failed", { errorMessage: "The request took too long to respond." }],
      ["duplicate_settlement"],
      ["The contract function reverted: FiatTokenV2: authorization is used or canceled"],
      ["transaction expired: block height exceeded"],
    ];
    for (const [reason, more] of doubtful)
      it(`is never called unpaid for "${reason.split("\n", 1)[0]}"${more ? ` with ${Object.keys(more)}` : ""}`, async () => {
        shop.rail.script.settle = refuses(reason, more);
        await expectUnknown(await send(), reason);
      });

    it("is never called unpaid by a second attempt, which the success of the first one may have caused", async () => {
      let lags = true;
      shop.rail.script.find = (_paid, { network }) => {
        const transaction = [...shop.rail.moved.values()][0];
        return lags || !transaction || !network ? { state: "open" } : { state: "settled", transaction };
      };
      shop.rail.script.settle = (paid, offer) => {
        move(shop.rail, paid, offer);
        throw new Problem("facilitator-unavailable", "The facilitator did not answer to settle");
      };
      await expectUnknown(await send(), "the first attempt");
      shop.rail.script.settle = refuses("invalid_exact_evm_insufficient_balance"); // It was spent on us.
      await expectUnknown(await retry(), "the second attempt");
      lags = false;
      expect((await retry()).status).to.equal(200);
      expect(shop.rail.moved.size).to.equal(1);
    });
  });

  it("is refused at once when nothing was sent and nothing has moved", async () => {
    const reasons = [
      "insufficient_funds",
      "transaction_simulation_failed",
      "unsupported_scheme",
      "token_paused",
      "simulation_refused",
    ];
    for (const reason of [...reasons, "Execution reverted with reason: Blacklistable: account is blacklisted."]) {
      shop.rail.script.settle = refuses(reason);
      expect((await shop.buy("/v1/roll", ROLL)).status, reason).to.equal(402);
    }
    const errorMessage = 'The contract function "transferWithAuthorization" reverted with the following reason: paused';
    shop.rail.script.settle = refuses("invalid_exact_evm_transaction_failed", { errorMessage });
    expect((await shop.buy("/v1/roll", ROLL)).status, errorMessage).to.equal(402);
  });

  it("is not reached by an input that has no digest: half a character is a fault of the caller's", async () => {
    for (const more of ['"label":"\\ud800"', '"data":["\\udc00"]', '"data":{"\\ud800":1}', '"data":1e400']) {
      const headers = { "content-type": "application/json", "payment-signature": payment };
      const body = `{"low":1,"high":6,${more}}`;
      const response = await fetch(`${shop.url}/v1/roll`, { method: "POST", headers, body });
      expect(response.status, more).to.equal(422);
    }
    expect(shop.rail.asked.settle).to.equal(0);
    expect((await send()).status).to.equal(200);
  });

  it("is not tried once the authorization has run out while the handler worked", async () => {
    shop.handler = () => {
      shop.clock.advance(299_000);
      return { value: 1 };
    };
    const response = await send();
    expect(response.status).to.equal(402);
    expect(await response.json()).to.have.property("error", "payment_expired");
    expect(shop.rail.asked.settle).to.equal(0);
  });

  it("is not begun, nor its handler, for a caller who left while the payment was verified", async () => {
    const stall = await openStall();
    const gone = new AbortController();
    stall.rails.base.script.verify = () => {
      gone.abort();
      return { isValid: true };
    };
    const meta = { "x402/payment": await stall.pay("roll") };
    const { body } = await stall.call("roll", ROLL, { meta, signal: gone.signal });
    expect(JSON.parse(body.result.content[0].text)).to.include({ code: "unavailable" });
    expect(stall.executions).to.equal(0);
    stall.close();
  });

  describe("whose facilitator says too much", () => {
    const SIZE = 100_000;
    const sizeOf = (response: Response): number => [...response.headers].join("").length;

    it("still reaches the payer: receipts hold what x402 knows, and no more", async () => {
      shop.rail.script.settle = (paid, offer) =>
        ({
          ...move(shop.rail, paid, offer),
          errorReason: null,
          extensions: { more: "x".repeat(SIZE) },
        }) as unknown as SettleResponse;
      const response = await send();
      expect(response.status).to.equal(200);
      expect(shop.receipt(response)).to.have.all.keys("success", "transaction", "network", "payer", "amount");
      expect(sizeOf(response)).to.be.below(4096);
    });

    it("still lets the payer read why it was refused", async () => {
      shop.rail.script.settle = refuses("insufficient_funds", { errorMessage: "x".repeat(SIZE) });
      const settled = await send();
      expect(settled.status).to.equal(402);
      expect(shop.receipt(settled).errorMessage).to.match(/^x{10,300}…$/);
      shop.rail.script.verify = () => ({ isValid: false, invalidReason: "x".repeat(SIZE) });
      const verified = await shop.buy("/v1/roll", ROLL);
      expect(verified.status).to.equal(402);
      expect(sizeOf(verified)).to.be.below(8192);
    });

    it("is not proved by a transaction that can be none", async () => {
      shop.rail.script.settle = (_paid, { network }) => ({ success: true, network, transaction: "x".repeat(SIZE) });
      await expectUnknown(await send(), "a long transaction");
    });
  });

  it("is logged once for each call, and an outage of the chain's node once in a while", async () => {
    await shop.close();
    const lines: string[] = [];
    const write = (event: string): void => void lines.push(event);
    shop = await openShop({ log: { info: () => {}, warn: write, error: write } });
    payment = await shop.pay("/v1/roll");
    shop.rail.script.settle = isAway;
    shop.rail.script.find = () => {
      throw new Problem("upstream-failed");
    };
    await expectUnknown(await send(), "at first");
    for (let again = 0; again < 20; again++) await expectUnknown(await retry(), "again");
    expect(lines.filter((event) => event.startsWith("settlement."))).to.have.members([
      "settlement.doubtful",
      "settlement.unreadable",
    ]);
  });

  it("is logged with what the facilitator says, such as that a key has no right to settle", async () => {
    await shop.close();
    const told: unknown[] = [];
    const warn = (event: string, fields?: object): void => {
      if (event === "settlement.doubtful") told.push(fields);
    };
    shop = await openShop({ log: { info: () => {}, warn, error: () => {} } });
    payment = await shop.pay("/v1/roll");
    const message = "The facilitator does not accept our credentials for settle (status 401)";
    shop.rail.script.settle = () => {
      throw new Problem("facilitator-unavailable", message);
    };
    await expectUnknown(await send(), "without a right");
    expect(told).to.have.length(1);
    expect(told[0]).to.include({ reason: "settlement_unknown", message });
  });

  describe("whose outcome is unknown for long", () => {
    const cutOff = (): never => {
      throw new Problem("upstream-failed", "The node cannot be reached");
    };

    it("is remembered for a day, so that whoever was charged gets the result after a long outage", async () => {
      shop.rail.script.find = cutOff;
      shop.rail.script.settle = (paid, offer) => {
        move(shop.rail, paid, offer);
        return cutOff();
      };
      await expectUnknown(await send(), "during the outage");
      await shop.restart();
      shop.clock.advance(6 * 3_600_000);
      delete shop.rail.script.find;
      const response = await retry();
      expect(await response.json()).to.deep.equal({ value: 1, executions: 1 });
      expect(shop.executions, "since the restart").to.equal(0);
    });

    it("stays ready to be fetched for a day when it was found to be settled while nobody asked", async () => {
      shop.rail.script.settle = cutOff;
      await expectUnknown(await send(), "at first");
      delete shop.rail.script.settle;
      await eventually(() => ![...shop.store.entries.keys()].some((key) => key.startsWith("open:")));
      shop.clock.advance(6 * 3_600_000);
      expect((await retry()).status).to.equal(200);
      expect(shop.executions).to.equal(1);
    });
  });
});
