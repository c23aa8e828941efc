import { join } from "node:path";
import { DEFAULT_REQUEST_TIMEOUT_MSEC } from "@modelcontextprotocol/client";
import { decodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import { REPEAT_MS } from "../../../runtime/cli/mcp-proxy/proxy.ts";
import type { ToolResult } from "../../../runtime/cli/mcp-proxy/results.ts";
import { ROLLED, stagePurchases } from "./stage.ts";

const toProblem = (problem: object): ToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify(problem) }],
});

describe("a purchase of payphone mcp-proxy", () => {
  const stage = stagePurchases();

  for (const [code, status] of [
    ["rate-limited", 429],
    ["facilitator-unavailable", 503],
    ["payment-in-progress", 409],
    ["settlement-unknown", 503],
  ] as const)
    it(`sends the same payment again after ${code}, and counts it once`, async () => {
      stage.answers = [toProblem({ code, status, retry_after: 0 })];
      expect(await stage.open(60_000)()).to.equal(ROLLED);
      expect(stage.paid).to.have.length(2);
      expect(stage.paid[1]).to.deep.equal(stage.paid[0]);
      expect(stage.spent).to.equal(1);
    });

  for (const [code, status, more] of [
    ["upstream-failed", 502, {}],
    ["payment-conflict", 409, {}],
    ["paid-not-delivered", 502, { refund_tx: null }],
  ] as const)
    it(`hands ${code} on, as the last word about the payment`, async () => {
      const failed = toProblem({ code, status, ...more });
      stage.answers = [failed];
      expect(await stage.open(60_000)()).to.equal(failed);
      expect(stage.paid).to.have.length(1);
    });

  for (const [what, form, why] of [
    ["a new challenge", { x402Version: 2, error: "too_late", resource: {}, accepts: [] }, "too_late"],
    ["one of x402 version 1", { x402Version: 1, error: "too_late", accepts: [] }, "too_late"],
    ["a malformed one", { accepts: ["money"] }, "the seller does not say why"],
  ] as const)
    it(`that is answered with ${what} is called refused, and never unpaid`, async () => {
      stage.answers = [{ isError: true, content: [], structuredContent: form }];
      const { content } = await stage.open(60_000)();
      const text = `The payment for roll was refused: ${why}. It counts against today's budget.`;
      expect(content).to.deep.equal([{ type: "text", text }]);
      expect(stage.spent).to.equal(1);
    });

  const FAILED = "invalid_exact_evm_transaction_failed";
  const receipt = { success: false, errorReason: "settlement_pending", transaction: "0xab" };
  for (const [what, error, more] of [
    ["while its settlement is not confirmed", "settlement_pending", { _meta: { "x402/payment-response": receipt } }],
    ["when a stock seller's facilitator did not answer", "Payment settlement failed: fetch failed", {}],
    ["when its node did not answer", `Payment settlement failed: ${FAILED}: The request took too long`, {}],
    ["when a seller says no more of its settlement than x402's example", "Settlement failed", {}],
    ["when a stock server in Go or Python got no answer", "Settlement error: context deadline exceeded", {}],
  ] as const)
    it(`is sent again, counted once, and not said to be untaken, ${what}`, async () => {
      const toRefusal = (error: string) => ({ x402Version: 2, error, resource: {}, accepts: [] });
      const open = { isError: true, content: [], structuredContent: toRefusal(error), ...more };
      stage.answers = [open];
      expect(await stage.open(60_000)()).to.equal(ROLLED);
      expect(stage.paid[1]).to.deep.equal(stage.paid[0]);
      expect(stage.spent).to.equal(1);
      stage.answers = [open, { isError: true, content: [], structuredContent: toRefusal("nonce_already_used") }];
      const { content } = await stage.open(60_000)();
      expect(JSON.stringify(content)).to.include("refused: nonce_already_used").and.include("may have been taken");
    });

  for (const why of ["insufficient_funds: the balance is 0", `${FAILED}: execution reverted: paused`])
    it(`is not sent again when a stock seller's facilitator has refused it: ${why}`, async () => {
      const error = `Payment settlement failed: ${why}`;
      stage.answers = [
        { isError: true, content: [], structuredContent: { x402Version: 2, error, resource: {}, accepts: [] } },
      ];
      expect(JSON.stringify(await stage.open(60_000)())).to.include(`refused: ${error}`);
      expect(stage.paid).to.have.length(1);
    });

  it("is sent as base64 text, too, to a seller who reads no object, and counts once", async () => {
    const buy = stage.open(60_000);
    stage.answers = [stage.challenge(), ROLLED, ROLLED];
    expect(await buy()).to.equal(ROLLED);
    expect(await buy()).to.equal(ROLLED);
    const [object, text, next] = stage.paid as [object, string, string];
    expect(decodePaymentSignatureHeader(text)).to.deep.equal(object);
    expect(decodePaymentSignatureHeader(next)).to.not.deep.equal(object);
    expect([stage.paid.length, stage.spent]).to.deep.equal([3, 2]);
    stage.paid = [];
    stage.answers = [stage.challenge(), stage.challenge()];
    const { content } = await buy();
    expect(content).to.deep.equal([
      { type: "text", text: "The payment for roll was refused: ?. It counts against today's budget." },
    ]);
    expect(stage.paid).to.have.length(1);
    stage.answers = [];
    await buy();
    expect(stage.paid[1], "an object again").to.be.an("object");
  });

  it("is told to be unknown before a stock client gives up, however long the seller took to name the price", async () => {
    expect(REPEAT_MS).to.be.below(DEFAULT_REQUEST_TIMEOUT_MSEC);
    stage.unpaidMs = REPEAT_MS;
    stage.answers = [toProblem({ code: "settlement-unknown", status: 503, retry_after: 1 })];
    const why = await stage
      .open(REPEAT_MS)()
      .then(String, ({ message }: Error) => message);
    expect(why).to.match(
      /^the payment for roll was sent, and its outcome is not known .* Call the tool again with the same/,
    );
    expect(stage.paid).to.have.length(1);
  });

  it("that is answered with a JSON-RPC error about the call is called refused, and not sent again", async () => {
    const text = "The payment for roll was refused: no such tool. It counts against today's budget.";
    for (const code of [-32700, -32600, -32601, -32602]) {
      Object.assign(stage, { paid: [], answers: [Object.assign(new Error("no such tool"), { code })] });
      const { content } = await stage.open(60_000)();
      expect(content).to.deep.equal([{ type: "text", text }]);
      expect(stage.paid).to.have.length(1);
    }
  });

  it("may have been taken where a JSON-RPC error is about the result: old official servers check it after they settle", async () => {
    const why = "Tool roll has an output schema but no structured content was provided";
    const used = { x402Version: 2, error: "nonce_already_used", resource: {}, accepts: [] };
    stage.answers = [
      Object.assign(new Error(`MCP error -32602: ${why}`), { code: -32602 }),
      { isError: true, content: [], structuredContent: used },
    ];
    const { content } = await stage.open(60_000)();
    expect(JSON.stringify(content)).to.include("refused: nonce_already_used").and.include("may have been taken");
    expect(stage.paid[1]).to.deep.equal(stage.paid[0]);
    expect(stage.spent).to.equal(1);
  });

  it("hands a failure in plain words on, as the last word about the payment", async () => {
    const failed = { isError: true, content: [{ type: "text", text: "out of dice" }] };
    stage.answers = [failed];
    expect(await stage.open(60_000)()).to.equal(failed);
    expect(stage.paid).to.have.length(1);
  });

  it("is not made for a caller who has left before it is signed", async () => {
    const left = await stage
      .open(60_000)(AbortSignal.abort())
      .catch(({ name }: Error) => name);
    expect([left, stage.paid, stage.spent]).to.deep.equal(["AbortError", [], 0]);
  });

  it("in yen is not made, and said to be no dollars", async () => {
    stage.railId = "polygon";
    const why = await stage
      .open(60_000)()
      .then(String, ({ message }: Error) => message);
    expect(why).to.equal("roll costs JPYC, not dollars. Nothing was paid.");
  });

  it("that is refused after an answer was lost is said to have been taken, perhaps", async () => {
    const refused = { x402Version: 2, error: "authorization_used", resource: {}, accepts: [] };
    stage.answers = [new Error("lost"), { isError: true, content: [], structuredContent: refused }];
    const buy = stage.open(0);
    await buy().catch(() => {});
    const [{ text }] = (await buy()).content as [{ text: string }];
    expect(text).to.match(/^The payment for roll was refused: authorization_used\. It counts against today's budget\./);
    expect(text).to.match(/ What became of an earlier attempt is not known: the payment may have been taken then\.$/);
  });

  it("that cannot be kept, as on a full disk, is not sent, not counted, and said to be none", async () => {
    stage.spending = join(import.meta.filename, "spending");
    const why = await stage
      .open(60_000)()
      .then(String, ({ message }: Error) => message);
    expect(why).to.match(/^The payments of the day cannot be noted in .* \(ENOTDIR\): .* Nothing was paid\.$/);
    expect([stage.paid, stage.spent]).to.deep.equal([[], 0]);
  });

  it("that cannot be signed is not counted", async () => {
    stage.isSignable = false;
    const why = await stage
      .open(60_000)()
      .then(String, ({ message }: Error) => message);
    expect(why).to.match(/^the payment could not be signed: .* Nothing was paid\.$/);
    expect([stage.paid, stage.spent]).to.deep.equal([[], 0]);
  });
});
