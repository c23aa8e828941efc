import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DEFAULT_REQUEST_TIMEOUT_MSEC } from "@modelcontextprotocol/client";
import { decodePaymentSignatureHeader } from "@x402/core/http";
import { expect } from "chai";
import type { BuyerWallet } from "../../../runtime/cli/call/buyer-wallet.ts";
import { loadRails } from "../../../runtime/cli/call/rails-file.ts";
import { createLostPayments } from "../../../runtime/cli/mcp-proxy/lost.ts";
import { REPEAT_MS } from "../../../runtime/cli/mcp-proxy/proxy.ts";
import { createPurchases, type ToolRequest } from "../../../runtime/cli/mcp-proxy/purchase.ts";
import type { ToolResult } from "../../../runtime/cli/mcp-proxy/results.ts";
import type { RailManifest } from "../../../runtime/core/set/manifest.ts";
import { eventually } from "../../support/eventually.ts";
import { createDataDir } from "../../support/sellers/seller.ts";

const ROOT = join(import.meta.dirname, "../../..");
const DICE = { name: "roll", arguments: { low: 1, high: 6 } };
const ROLLED = { content: [{ type: "text", text: "4" }], structuredContent: { result: [4] } };
const WALLET: BuyerWallet = { origin: "environment", key: () => `0x${"11".repeat(32)}`, rpc: () => undefined };

const toProblem = (problem: object): ToolResult => ({
  isError: true,
  content: [{ type: "text", text: JSON.stringify(problem) }],
});

describe("a purchase of payphone mcp-proxy", () => {
  let spending: ReturnType<typeof createDataDir>;
  let rails: readonly RailManifest[];
  let now: number;
  let spent: number;
  let paid: unknown[];
  let maxTimeoutSeconds: number;
  /** How long the seller takes to name the price. */
  let unpaidMs: number;
  /** The rail of the offers. */
  let railId: string;
  /** Whether the offers name the token's domain. */
  let isSignable: boolean;
  /** The seller's answers to calls with a payment, in turn; an error means that no answer comes. */
  let answers: (ToolResult | Error | Promise<never>)[];
  before(async () => {
    rails = await loadRails(ROOT);
  });
  beforeEach(() => {
    spending = createDataDir();
    [now, spent, paid, answers, maxTimeoutSeconds, isSignable] = [Date.now(), 0, [], [], 300, true];
    railId = "base";
    unpaidMs = 0;
  });

  afterEach(() => spending.remove());

  const challenge = (): ToolResult => {
    const rail = rails.find(({ id }) => id === railId) as RailManifest;
    const { network, asset, domain } = rail;
    const extra = isSignable ? domain : {};
    const accepted = { scheme: "exact", network, asset, amount: "1000", payTo: `0x${"22".repeat(20)}` };
    const accepts = [{ ...accepted, maxTimeoutSeconds, extra }];
    const structuredContent = { x402Version: 2, error: "?", resource: { url: "https://seller.example/mcp" }, accepts };
    return { isError: true, content: [], structuredContent };
  };
  const ask = async ({ _meta }: ToolRequest): Promise<ToolResult> => {
    const payment = _meta?.["x402/payment"];
    if (payment === undefined) {
      now += unpaidMs;
      return challenge();
    }
    paid.push(payment);
    const answer = answers.shift() ?? ROLLED;
    if (answer instanceof Error) throw answer;
    return answer;
  };
  const open = (patienceMs: number) => {
    const budget = {
      spend: async () => {
        spent += 1;
        return async () => {
          spent -= 1;
        };
      },
    };
    const openWallet = async (): Promise<BuyerWallet> => WALLET;
    const lost = createLostPayments(spending.path, "https://seller.example/mcp", () => now);
    const schemaOf = async (): Promise<unknown> => undefined;
    const call = createPurchases({
      ask,
      lost,
      schemaOf,
      budget,
      rails,
      openWallet,
      say: () => {},
      now: () => now,
      patienceMs,
    });
    return (signal = new AbortController().signal) => call(DICE, signal);
  };

  for (const [code, status] of [
    ["rate-limited", 429],
    ["facilitator-unavailable", 503],
    ["payment-in-progress", 409],
    ["settlement-unknown", 503],
  ] as const)
    it(`sends the same payment again after ${code}, and counts it once`, async () => {
      answers = [toProblem({ code, status, retry_after: 0 })];
      expect(await open(60_000)()).to.equal(ROLLED);
      expect(paid).to.have.length(2);
      expect(paid[1]).to.deep.equal(paid[0]);
      expect(spent).to.equal(1);
    });

  for (const [code, status, more] of [
    ["upstream-failed", 502, {}],
    ["payment-conflict", 409, {}],
    ["paid-not-delivered", 502, { refund_tx: null }],
  ] as const)
    it(`hands ${code} on, as the last word about the payment`, async () => {
      const failed = toProblem({ code, status, ...more });
      answers = [failed];
      expect(await open(60_000)()).to.equal(failed);
      expect(paid).to.have.length(1);
    });

  for (const [what, form, why] of [
    ["a new challenge", { x402Version: 2, error: "too_late", resource: {}, accepts: [] }, "too_late"],
    ["one of x402 version 1", { x402Version: 1, error: "too_late", accepts: [] }, "too_late"],
    ["a malformed one", { accepts: ["money"] }, "the seller does not say why"],
  ] as const)
    it(`that is answered with ${what} is called refused, and never unpaid`, async () => {
      answers = [{ isError: true, content: [], structuredContent: form }];
      const { content } = await open(60_000)();
      const text = `The payment for roll was refused: ${why}. It counts against today's budget.`;
      expect(content).to.deep.equal([{ type: "text", text }]);
      expect(spent).to.equal(1);
    });

  it("is sent as base64 text, too, to a seller who reads no object, and counts once", async () => {
    const buy = open(60_000);
    answers = [challenge(), ROLLED, ROLLED];
    expect(await buy()).to.equal(ROLLED);
    expect(await buy()).to.equal(ROLLED);
    const [object, text, next] = paid as [object, string, string];
    expect(decodePaymentSignatureHeader(text)).to.deep.equal(object);
    expect(decodePaymentSignatureHeader(next)).to.not.deep.equal(object);
    expect([paid.length, spent]).to.deep.equal([3, 2]);
    paid = [];
    answers = [challenge(), challenge()];
    const { content } = await buy();
    expect(content).to.deep.equal([
      { type: "text", text: "The payment for roll was refused: ?. It counts against today's budget." },
    ]);
    expect(paid).to.have.length(1);
    answers = [];
    await buy();
    expect(paid[1], "an object again").to.be.an("object");
  });

  it("is told to be unknown before a stock client gives up, however long the seller took to name the price", async () => {
    expect(REPEAT_MS).to.be.below(DEFAULT_REQUEST_TIMEOUT_MSEC);
    unpaidMs = REPEAT_MS;
    answers = [toProblem({ code: "settlement-unknown", status: 503, retry_after: 1 })];
    const why = await open(REPEAT_MS)().then(String, ({ message }: Error) => message);
    expect(why).to.match(
      /^the payment for roll was sent, and its outcome is not known .* Call the tool again with the same/,
    );
    expect(paid).to.have.length(1);
  });

  it("that is answered with a JSON-RPC error about the call is called refused, and not sent again", async () => {
    answers = [Object.assign(new Error("no such tool"), { code: -32602 })];
    const { content } = await open(60_000)();
    const text = "The payment for roll was refused: no such tool. It counts against today's budget.";
    expect(content).to.deep.equal([{ type: "text", text }]);
    expect(paid).to.have.length(1);
  });

  it("in yen is not made, and said to be no dollars", async () => {
    railId = "polygon";
    const why = await open(60_000)().then(String, ({ message }: Error) => message);
    expect(why).to.equal("roll costs JPYC, not dollars. Nothing was paid.");
  });

  it("that is refused after an answer was lost is said to have been taken, perhaps", async () => {
    const refused = { x402Version: 2, error: "authorization_used", resource: {}, accepts: [] };
    answers = [new Error("lost"), { isError: true, content: [], structuredContent: refused }];
    const buy = open(0);
    await buy().catch(() => {});
    const [{ text }] = (await buy()).content as [{ text: string }];
    expect(text).to.match(/^The payment for roll was refused: authorization_used\. It counts against today's budget\./);
    expect(text).to.match(/ An earlier attempt got no answer: the payment may have been taken then\.$/);
  });

  it("that cannot be signed is not counted", async () => {
    isSignable = false;
    const why = await open(60_000)().then(String, ({ message }: Error) => message);
    expect(why).to.match(/^the payment could not be signed: .* Nothing was paid\.$/);
    expect([paid, spent]).to.deep.equal([[], 0]);
  });

  it("is sent again by the next proxy when its own was killed, and by nobody while it waits for its answer", async () => {
    answers = [new Promise<never>(() => {})];
    const killed = open(60_000);
    void killed();
    await eventually(() => paid.length > 0);
    expect(await killed()).to.equal(ROLLED);
    expect(paid[1], "another call at the same time is another purchase").to.not.deep.equal(paid[0]);
    expect(await open(60_000)()).to.equal(ROLLED);
    expect(paid[2]).to.deep.equal(paid[0]);
    await open(60_000)();
    expect(paid[3], "whose answer has come").to.not.deep.equal(paid[0]);
    expect(spent).to.equal(3);
  });

  it("is sent again when another process has the id of the proxy that was killed", async () => {
    if (process.platform !== "linux") return;
    answers = [new Promise<never>(() => {})];
    void open(60_000)();
    await eventually(() => paid.length > 0);
    const [name = ""] = readdirSync(spending.path).filter((one) => one.startsWith("payment-"));
    const file = join(spending.path, name);
    const kept = JSON.parse(readFileSync(file, "utf8"));
    expect(kept.began).to.match(/^\d+$/);
    writeFileSync(file, JSON.stringify({ ...kept, pid: process.ppid, began: undefined }));
    await open(60_000)();
    expect(paid[1], "by a version that did not write it").to.not.deep.equal(paid[0]);
    writeFileSync(file, JSON.stringify({ ...kept, pid: process.ppid, began: "1" }));
    await open(60_000)();
    expect(paid[2]).to.deep.equal(paid[0]);
  });

  it("is not made again by the call of a client that gave up without cancelling: that gets the answer", async () => {
    const buy = open(60_000);
    const late = Promise.withResolvers<never>();
    answers = [late.promise];
    void buy();
    await eventually(() => paid.length > 0);
    now += 5000;
    const again = buy();
    now += 5000;
    const third = buy();
    expect(await buy(), "another call at the same time is another purchase").to.equal(ROLLED);
    late.resolve({ ...ROLLED, isLate: true } as never);
    expect([await again, await third]).to.deep.equal([
      { ...ROLLED, isLate: true },
      { ...ROLLED, isLate: true },
    ]);
    expect(await buy(), "whose answer has come").to.equal(ROLLED);
    expect([paid.length, spent]).to.deep.equal([3, 3]);
  });

  it("is sent again by the call that follows a cancelled one at once, or its late answer", async () => {
    const buy = open(60_000);
    const late = Promise.withResolvers<never>();
    for (const answer of [new Promise<never>(() => {}), late.promise]) {
      [paid, spent, answers] = [[], 0, [answer]];
      const cancelled = new AbortController();
      const first = buy(cancelled.signal);
      await eventually(() => paid.length > 0);
      cancelled.abort();
      if (answer === late.promise) {
        late.resolve(ROLLED as never);
        await first;
      }
      expect(await buy()).to.equal(ROLLED);
      expect(paid[1]).to.deep.equal(paid[0]);
      expect(spent).to.equal(1);
    }
  });

  it("without an answer is remembered for as long as its authorization can be used", async () => {
    maxTimeoutSeconds = 3600;
    answers = Array.from({ length: 3 }, () => new Error("lost"));
    const buy = open(0);
    const lose = (): Promise<string> => buy().catch(({ code }: { code: string }) => code) as Promise<string>;
    expect(await lose()).to.equal("settlement-unknown");
    now += 59 * 60_000;
    expect(await lose()).to.equal("settlement-unknown");
    expect(paid[1]).to.deep.equal(paid[0]);
    now += 2 * 60_000;
    expect(await lose()).to.equal("settlement-unknown");
    expect(paid[2]).to.not.deep.equal(paid[0]);
    expect(spent).to.equal(2);
  });
});
