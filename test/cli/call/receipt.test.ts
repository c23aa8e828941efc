import { expect } from "chai";
import type { SellerResponse } from "../../../runtime/cli/call/http.ts";
import { isDoubtful, settlementIn } from "../../../runtime/cli/call/receipt.ts";

const toRefusal = (json: object): SellerResponse => ({
  status: 402,
  headers: new Headers(),
  text: JSON.stringify(json),
  json,
});
const isOpen = (json: object): boolean => isDoubtful(settlementIn(toRefusal(json)));

describe("what a refusal without a receipt says of a settlement", () => {
  const FAILED = "invalid_exact_evm_transaction_failed";
  for (const [who, refusal] of [
    ["@x402/express 2.4 and x402-rs", { error: "Settlement failed", details: "timeout" }],
    ["thirdweb's server", { x402Version: 2, error: "Settlement error", errorMessage: "fetch failed", accepts: [] }],
    ["thirdweb's server that gives the facilitator's reason", { x402Version: 2, error: FAILED, accepts: [] }],
  ] as const)
    it(`leaves open what has moved: ${who}`, () => expect(isOpen(refusal)).to.equal(true));

  for (const refusal of [
    { error: "Settlement failed", details: "insufficient_funds" },
    { error: "Settlement failed: insufficient_funds" },
    { error: FAILED, errorMessage: "execution reverted: paused" },
    { error: "insufficient_funds", errorMessage: "Settlement error" },
    { error: "payment_rejected: settlement_pending" },
    { error: "Verification error", errorMessage: "timeout" },
  ])
    it(`is final where the payment is at fault, or no settlement was tried: ${JSON.stringify(refusal)}`, () =>
      expect(isOpen(refusal)).to.equal(false));

  it("is read at once, however long the seller's words are", () => {
    const began = performance.now();
    const [reason, details] = ["settle", "invalid"].map((word) => `${word.repeat(80_000)}!`);
    expect(isOpen({ error: reason })).to.equal(false);
    expect(isOpen({ error: "Settlement failed", details })).to.equal(true);
    expect(performance.now() - began).to.be.below(8000);
  });
});
