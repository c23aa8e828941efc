import { closeSync, existsSync, openSync, rmSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { expect } from "chai";
import { SETTLE_LIFE_MS } from "../../../runtime/core/payments/settlement.ts";
import manifestSchema from "../../../schemas/manifest.json" with { type: "json" };
import { run } from "./run.ts";
import { NOT_YET, PAID, RESULT, type Said, type Seller, startSeller, TRANSACTION, USDC_OFFER } from "./seller.ts";

/** What a stock seller answers that does not know whether its facilitator has settled the payment. */
const toFailed = (details: string): Said => ({
  status: 402,
  body: { error: "Settlement failed", details },
  headers: { "retry-after": "0" },
});
const toDoubtful = (errorReason: string, errorMessage?: string): Said => ({
  status: 402,
  body: {},
  headers: {
    "retry-after": "0",
    "payment-response": btoa(JSON.stringify({ success: false, errorReason, errorMessage, transaction: TRANSACTION })),
  },
});

describe("a payment whose outcome is not known", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  const distinctPayments = (): number => new Set(seller.paid().map(({ payment }) => payment)).size;

  const passing: [string, Said][] = [
    ["settlement-unknown", NOT_YET],
    ["payment-in-progress", { status: 409, body: { code: "payment-in-progress" }, headers: { "retry-after": "0" } }],
    ["a broken connection", undefined],
    ["a text that breaks off", { status: 200, isCut: true }],
    ["a file that breaks off", { status: 200, isCut: true, headers: { "content-type": "image/png" } }],
    ["an answer without end", { status: 200, isEndless: true }],
    ["a gateway's 502", { status: 502, body: "<html>", headers: { "retry-after": "0" } }],
    ["a credit", { status: 502, body: { code: "paid-not-delivered" }, headers: { "retry-after": "0" } }],
    ["a gateway's timeout", { status: 408, body: "<html>", headers: { "retry-after": "0" } }],
    ["a server that takes nothing early", { status: 425, body: "<html>", headers: { "retry-after": "0" } }],
    ["a settlement that is not confirmed yet", toDoubtful("settlement_pending")],
    ["the same with another status", { ...toDoubtful("settlement_pending"), status: 409 }],
    ["a wait for that which was over", toDoubtful("settle_exact_evm_transaction_confirmation_timed_out")],
    ["a facilitator without an answer", toDoubtful("fetch failed")],
    ["a transaction of which its node's answer was lost", toDoubtful("invalid_exact_evm_transaction_failed")],
    ["a settlement that its facilitator has made before", toDoubtful("duplicate_settlement")],
    [
      "one that its token has made before",
      toDoubtful("invalid_exact_evm_transaction_failed", "execution reverted: authorization is used or canceled"),
    ],
    ["the same at a seller that sends no receipt", toFailed("Facilitator settle failed (504)")],
    ["a stock server that failed as it settled", { status: 402, body: {}, headers: { "retry-after": "0" } }],
    ["too many requests", { status: 429, headers: { "retry-after": "0" } }],
  ];
  for (const [what, answer] of passing)
    it(`is sent again, the same, after ${what}`, async () => {
      seller.script.answers = [answer, PAID];
      const { code, out, err } = await run({ url: seller.url, waitSeconds: 60 });
      expect([code, JSON.parse(out)]).to.deep.equal([0, RESULT]);
      expect([seller.paid().length, distinctPayments()]).to.deep.equal([2, 1]);
      expect(err).to.match(/No result yet \(.+\)\. The same payment is sent again in (0\.2|1) s\./);
    });

  const final: [string, Said][] = [
    ["payment-conflict", { status: 409, body: { code: "payment-conflict" }, headers: { "retry-after": "0" } }],
    ["deadline-exceeded", { status: 504, body: { code: "deadline-exceeded" } }],
    ["a credit that is paid back", { status: 502, body: { code: "paid-not-delivered", refund_tx: null } }],
    ["a refusal", { status: 402, body: { error: "insufficient_funds" } }],
    ["one in a new challenge", { status: 402, body: {}, headers: { "payment-required": btoa('{"x402Version":2}') } }],
    ["a settlement that was refused", toDoubtful("invalid_transaction_state")],
    ["one that its token refused", toDoubtful("invalid_exact_evm_transaction_failed", "execution reverted: paused")],
    ["the same at a seller that sends no receipt", toFailed("insufficient_funds")],
  ];
  for (const [what, answer] of final)
    it(`is not sent again after ${what}, and is forgotten`, async () => {
      seller.script.answers = [answer, PAID];
      const { code, err } = await run({ url: seller.url });
      expect([code, seller.paid().length]).to.deep.equal([1, 1]);
      expect(err).not.to.include("--resume");
    });

  it("is kept for --resume when the time is up, in a file of the buyer's own", async () => {
    seller.script.answers = [NOT_YET];
    const one = await run({ url: seller.url, waitSeconds: 0 });
    expect(one.code).to.equal(4);
    expect(one.err).to.include(
      "payphone: the payment was sent, and its result is not known yet (503 The outcome is not known yet)",
    );
    const file = /payphone call --resume (\S+)$/.exec(one.err)?.[1] ?? "";
    expect(statSync(file).mode & 0o777).to.equal(0o600);
    expect(await readFile(file, "utf8")).not.to.include("private");

    const still = await run({ service: undefined, waitSeconds: 0, resume: file });
    expect(still.code).to.equal(4);
    expect(still.err).to.match(new RegExp(`--resume ${file}$`));

    seller.script.answers = [PAID];
    const dry = await run({ service: undefined, resume: file, dryRun: true });
    expect([dry.code, seller.paid().length], "a dry run sends nothing").to.deep.equal([2, 2]);

    const two = await run({ service: undefined, resume: file });
    expect([two.code, JSON.parse(two.out)]).to.deep.equal([0, RESULT]);
    expect(two.err).to.include("paid         0.001 USDC");
    expect([seller.paid().length, distinctPayments()]).to.deep.equal([3, 1]);
    expect(existsSync(file)).to.equal(false);
  });

  it("is waited for as long as the longest work and its settlement may take: who leaves before buys nothing", async () => {
    const { timeout } = AbortSignal;
    const waits: number[] = [];
    AbortSignal.timeout = (ms) => {
      waits.push(ms);
      return timeout.call(AbortSignal, ms);
    };
    await run({ url: seller.url }).finally(() => Object.assign(AbortSignal, { timeout }));
    const longest = manifestSchema.properties.deadline_seconds.maximum * 1000 + SETTLE_LIFE_MS;
    expect(
      waits.filter((ms) => ms > longest),
      "once unpaid, as a free call is, and once paid",
    ).to.have.length(2);
  });

  it("gets its result also where the file of the payment cannot be deleted, as that of a pipe", async () => {
    seller.script.answers = [NOT_YET];
    const { resume } = JSON.parse((await run({ url: seller.url, waitSeconds: 0, json: true })).out);
    const pipe = openSync(resume, "r");
    rmSync(resume);
    seller.script.answers = [PAID];
    const { code, out, err } = await run({ service: undefined, resume: `/dev/fd/${pipe}` });
    closeSync(pipe);
    expect([code, JSON.parse(out)]).to.deep.equal([0, RESULT]);
    expect(err).to.include(TRANSACTION);
  });

  it("gets its result also where the receipt has a text that is broken off within a character", async () => {
    const receipt = { success: true, transaction: `${TRANSACTION}\ud800`, network: "eip155:8453" };
    seller.script.answers = [{ ...PAID, headers: { "payment-response": btoa(JSON.stringify(receipt)) } }];
    const { code, out, err } = await run({ url: seller.url });
    expect([code, JSON.parse(out)]).to.deep.equal([0, RESULT]);
    expect(err).to.include("paid         0.001 USDC");
  });

  it("gets its result also where a header is nested too deeply to be printed", async () => {
    const deep = `${"[".repeat(5800)}${"]".repeat(5800)}`;
    const receipt = btoa(`{"success":true,"transaction":"${TRANSACTION}","more":${deep}}`);
    seller.script.answers = [{ ...PAID, headers: { "payment-response": receipt } }];
    const { code, out } = await run({ url: seller.url, json: true });
    expect([code, JSON.parse(out).result]).to.deep.equal([0, RESULT]);
    const resource = { url: `${seller.url}/v1/roll` };
    const challenge = JSON.stringify({ x402Version: 2, error: "pay", resource, accepts: [USDC_OFFER] });
    const header = btoa(challenge.replace('"version"', `"more":${deep.slice(500, -500)},"version"`));
    seller.script.unpaid = { status: 402, body: {}, headers: { "payment-required": header } };
    expect((await run({ url: seller.url, json: true })).code).to.equal(1);
    expect(seller.paid(), "nothing was paid").to.have.length(1);
  });

  it("is kept, and not called sent, when the seller puts the call off until tomorrow", async () => {
    const detail = "A wallet may spend 5 dollars a day here";
    seller.script.answers = [{ status: 429, body: { detail }, headers: { "retry-after": "40000" } }, PAID];
    const { code, err } = await run({ url: seller.url });
    expect([code, seller.paid().length]).to.deep.equal([4, 1]);
    expect(err).to.include(`the seller does not take the call yet, and has not charged it (429 ${detail})`);
    const { out } = await run({ service: undefined, resume: /--resume (\S+)$/.exec(err)?.[1] ?? "" });
    expect(JSON.parse(out)).to.deep.equal(RESULT);
  });

  it("is not said to be uncharged when the seller puts the call off after an outcome that was not known", async () => {
    const putOff = { status: 429, headers: { "retry-after": "40000" } };
    const said = /the payment was sent, and its result is not known yet \(429\)/;
    for (const before of [undefined, NOT_YET]) {
      seller.script.answers = [before, putOff];
      const { err } = await run({ url: seller.url });
      expect(err).to.match(said);
      const resume = /--resume (\S+)$/.exec(err)?.[1] ?? "";
      expect((await run({ service: undefined, resume })).err).to.match(said);
      rmSync(resume);
    }
  });

  it("is kept when it is refused long after it was signed", async () => {
    seller.script.answers = [NOT_YET];
    const { out } = await run({ url: seller.url, waitSeconds: 0, json: true });
    const file: string = JSON.parse(out).resume;
    seller.script.answers = [{ status: 402, body: { error: "expired" } }];
    const { code, err } = await run({ service: undefined, resume: file });
    expect(code).to.equal(1);
    expect(err).to.match(/402 The payment was refused: expired\n.*--resume/);
    seller.script.answers = [PAID];
    expect((await run({ service: undefined, resume: file })).code).to.equal(0);
  });

  it("is forgotten when it was paid back, however late", async () => {
    const credit = { status: 502, headers: { "retry-after": "0" } };
    const owed = { ...credit, body: { code: "paid-not-delivered" } };
    const back = { ...credit, body: { code: "paid-not-delivered", refund_tx: TRANSACTION } };
    seller.script.answers = [owed, back];
    expect((await run({ url: seller.url })).err).not.to.include("--resume");
    seller.script.answers = [owed];
    const { resume } = JSON.parse((await run({ url: seller.url, waitSeconds: 0, json: true })).out);
    seller.script.answers = [back];
    const { code, err } = await run({ service: undefined, resume });
    expect([code, existsSync(resume)]).to.deep.equal([1, false]);
    expect(err).not.to.include("--resume");
  });

  it("is kept while it is to be paid back by hand", async () => {
    const byHand = { status: 502, body: { code: "paid-not-delivered", refund_tx: null } };
    seller.script.answers = [NOT_YET, byHand];
    const { resume } = JSON.parse((await run({ url: seller.url, json: true })).out);
    expect(existsSync(resume)).to.equal(true);
    rmSync(resume);
  });

  it("is kept when it is refused after an outcome that was not known", async () => {
    seller.script.answers = [undefined, { status: 402, body: { error: "nonce_already_used" } }];
    const { code, out, err } = await run({ url: seller.url, json: true });
    const { resume } = JSON.parse(out);
    expect([code, existsSync(resume)]).to.deep.equal([1, true]);
    expect(err).to.include("\nThe payment may have been taken when it was sent before: look into your wallet");
    rmSync(resume);
  });

  it("is kept when the buyer interrupts the wait", async () => {
    seller.script.answers = [{ status: 503, headers: { "retry-after": "5" } }];
    const stop = new AbortController();
    const heard = (line: string): void => {
      if (line.startsWith("No result yet")) stop.abort();
    };
    const { code, out } = await run({ url: seller.url, json: true }, { signal: stop.signal, heard });
    expect(code).to.equal(4);
    const { resume, error } = JSON.parse(out);
    expect(error).to.deep.equal({
      code: "settlement-unknown",
      message: "the payment was sent, and its result is not known yet (interrupted)",
    });
    seller.script.answers = [PAID];
    expect((await run({ service: undefined, resume })).code).to.equal(0);
    expect(distinctPayments()).to.equal(1);
  });

  it("is not there when the buyer interrupts before paying", async () => {
    const { code, err } = await run({ url: seller.url }, { signal: AbortSignal.abort() });
    expect([code, err]).to.deep.equal([1, "payphone: interrupted: nothing was paid"]);
    expect(seller.met).to.deep.equal([]);
  });
});
