import { expect } from "chai";
import { challengeIn, isUndecided, secondsToRetry, transactionIn } from "../../../runtime/cli/mcp-proxy/results.ts";
import { UNPAID } from "./scripted.ts";

describe("the result of a tool that payphone mcp-proxy has called", () => {
  it("is no challenge where it offers no way to pay, such as one that asks for a sign-in only", () => {
    const structuredContent = {
      x402Version: 2,
      error: "sign in",
      resource: { url: "https://a.example/" },
      accepts: [],
    };
    expect(challengeIn({ isError: true, content: [], structuredContent })).to.equal(undefined);
  });

  it("is no challenge where it is no error, though a tool may answer with offers", () => {
    expect(challengeIn(UNPAID)).to.deep.equal(UNPAID.structuredContent);
    expect(challengeIn({ ...UNPAID, isError: false })).to.equal(undefined);
  });

  it("has a transaction only where the receipt is of a success", () => {
    const of = (success: boolean) => ({ _meta: { "x402/payment-response": { success, transaction: "0xab" } } });
    expect([true, false].map((success) => transactionIn(of(success)))).to.deep.equal(["0xab", undefined]);
  });

  it("is never asked for again without a pause", () => {
    const problem = { code: "rate-limited", status: 429, retry_after: 0 };
    expect(secondsToRetry({ isError: true, content: [], structuredContent: problem })).to.be.above(0);
  });

  it("leaves open what has moved where a settlement failed without a fault of the payment, in any stock server's words", () => {
    const isOpen = (error: string): boolean =>
      isUndecided({ isError: true, content: [], structuredContent: { x402Version: 2, error, accepts: [] } });
    const reason = "invalid_exact_evm_transaction_failed";
    for (const error of [
      "Settlement error: facilitator settle failed (504): timeout", // in Go, in Python
      `Settlement failed: ${reason}`,
      "SETTLEMENT_FAILED", // on Cloudflare, as the next ones
      reason,
      "settlement_pending",
      "post_settlement_transfer_not_confirmed",
    ])
      expect(isOpen(error), error).to.equal(true);
    for (const error of [
      "Payment verification error: timeout",
      "Settlement error: insufficient_funds: too little",
      "Settlement failed: invalid_transaction_state",
      "insufficient_funds",
      "PAYMENT_REQUIRED",
      "INVALID_PAYMENT",
      "payment_rejected",
    ])
      expect(isOpen(error), error).to.equal(false);
  });
});
