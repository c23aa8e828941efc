import { rmSync } from "node:fs";
import { expect } from "chai";
import { encode } from "../../support/sellers/signed.ts";
import { run } from "./run.ts";
import { PAID, type Seller, startSeller, TRANSACTION } from "./seller.ts";

describe("payphone call, when the seller gives no result,", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  /** The last lines after one paid request. */
  async function lastWords(exit = 1): Promise<string> {
    const { code, out, err } = await run({ url: seller.url });
    expect([code, out, seller.paid().length]).to.deep.equal([exit, "", 1]);
    return err.slice(err.lastIndexOf("payphone: "));
  }

  it("prints no control characters of its catalogue", async () => {
    seller.script.method = "P\u202eO\rST";
    const { code, err } = await run({ url: seller.url });
    expect(code).to.equal(1);
    expect(err)
      .to.include(`P O ST ${seller.url}/v1/roll\n`)
      .and.not.match(/[\r\u202e]/);
  });

  it("prints each fault of the input on its own line", async () => {
    const detail = [
      { loc: ["body", "high"], msg: "Field required", type: "missing" },
      { loc: ["body", "tags", 0], msg: "Input should be a valid string", type: "string_type" },
    ];
    seller.script.answers = [{ status: 422, body: { detail }, headers: { "x-request-id": "r-1" } }];
    expect(await lastWords(5)).to.equal(
      [
        "payphone: 422 The input was refused:",
        "  body.high: Field required",
        "  body.tags.0: Input should be a valid string",
        "Request id: r-1",
      ].join("\n"),
    );
  });

  it("does not fail itself at a fault and a reason that are no texts", async () => {
    const odd = { toString: 1 };
    const receipt = { success: false, errorReason: odd, transaction: "", network: "eip155:8453" };
    const headers = { "payment-response": encode(receipt) };
    seller.script.answers = [{ status: 422, body: { detail: [{ loc: ["body", odd, "high"], msg: odd }] }, headers }];
    expect(await lastWords(5)).to.equal("payphone: 422 The input was refused:\n  body.high: it is refused");
  });

  it("does not end like an unpaid call when the input was refused and charged, or perhaps charged", async () => {
    const refused = { status: 422, body: { detail: [] } };
    for (const answers of [[{ ...PAID, ...refused }], [undefined, refused]]) {
      seller.script.answers = answers;
      const { code, out } = await run({ url: seller.url, json: true });
      const { error, resume } = JSON.parse(out);
      rmSync(resume);
      expect([code, error.code]).to.deep.equal([1, "upstream-failed"]);
      expect(error.message).to.match(/^422 The input was refused:/);
    }
  });

  it("says why a payment was refused", async () => {
    const body = { x402Version: 2, error: "insufficient_funds", accepts: [] };
    seller.script.answers = [{ status: 402, body }];
    expect(await lastWords()).to.equal("payphone: 402 The payment was refused: insufficient_funds");
  });

  it("says why it was refused by a stock server, which says so only in headers", async () => {
    const settled = { success: false, errorReason: "invalid_nonce", transaction: "", network: "eip155:8453" };
    const headers = {
      "payment-required": encode({ x402Version: 2, error: "Settlement failed" }),
      "payment-response": encode(settled),
    };
    seller.script.answers = [{ status: 402, body: {}, headers }];
    expect(await lastWords()).to.equal(
      "payphone: 402 The payment was refused: Settlement failed\nSettlement: invalid_nonce",
    );
    for (const [name, value] of Object.entries(headers)) {
      seller.script.answers = [{ status: 402, text: "", headers: { [name]: value } }];
      expect((await run({ url: seller.url })).err, name).not.to.include("--resume");
    }
  });

  it("says why a settlement failed at a stock server that sends no receipt", async () => {
    seller.script.answers = [{ status: 402, body: { error: "Settlement failed", details: "insufficient_funds" } }];
    expect(await lastWords()).to.equal(
      "payphone: 402 The payment was refused: Settlement failed\nSettlement: insufficient_funds",
    );
  });

  it("prints a problem's title, detail and request id", async () => {
    const body = { title: "A source failed", detail: "The\u0007 source answered 500", code: "upstream-failed" };
    seller.script.answers = [{ status: 502, body: { ...body, request_id: "r-2" } }];
    expect(await lastWords()).to.equal("payphone: 502 A source failed: The  source answered 500\nRequest id: r-2");
  });

  it("prints no control character of an answer that is not final", async () => {
    const body = { detail: "not yet)\nReceipt\u202e", code: "settlement-unknown" };
    seller.script.answers = [{ status: 503, body }];
    const { code, err } = await run({ url: seller.url, waitSeconds: 0 });
    rmSync(/--resume (\S+)$/.exec(err)?.[1] ?? "");
    expect(code).to.equal(4);
    expect(err).to.include("payphone: the payment was sent, and its result is not known yet (503 not yet) Receipt )\n");
  });

  it("prints a title once where the detail is the same", async () => {
    const text = "Something went wrong on our side";
    seller.script.answers = [{ status: 500, body: { title: text, detail: text, code: "internal" } }];
    expect(await lastWords()).to.equal(`payphone: 500 ${text}`);
  });

  it("follows no redirect with a payment in hand", async () => {
    seller.script.answers = [{ status: 307, headers: { location: "https://elsewhere.example/" } }];
    const [said, again = ""] = (await lastWords()).split("\nAsk again with the same payment: payphone call --resume ");
    rmSync(again);
    expect(said).to.equal(
      "payphone: 307 without a word\nIt points to https://elsewhere.example/, which was not followed.",
    );
  });

  it("keeps the payment, and does not call it unpaid, when a gateway has answered in the seller's place", async () => {
    for (const status of [202, 204, 302, 402, 403, 404]) {
      const text = status < 300 ? "" : "<h1>Blocked";
      seller.script.answers = [{ status, text, headers: { "content-type": "text/html" } }];
      const { code, out, err } = await run({ url: seller.url, json: true });
      const { resume } = JSON.parse(out);
      rmSync(resume);
      expect(code).to.equal(1);
      expect(err).to.include(`payphone: ${status} `).and.include(`--resume ${resume}`);
      expect(err).not.to.include("nothing was paid");
    }
  });

  it("says that nothing was paid, by the seller's account, when no receipt comes", async () => {
    seller.script.answers = [{ status: 422, body: { detail: [] } }];
    const { err } = await run({ url: seller.url });
    expect(err).to.include("\nNo receipt came: by the seller's account, nothing was paid.\npayphone: 422 ");
  });

  it("shows the receipt of a call that was charged all the same, and keeps its payment", async () => {
    const bare = { "payment-response": btoa(JSON.stringify({ success: true, transaction: TRANSACTION })) };
    for (const headers of [PAID.headers, bare]) {
      seller.script.answers = [{ status: 410, body: { title: "Gone" }, headers }];
      const { code, out, err } = await run({ url: seller.url, json: true });
      const { resume } = JSON.parse(out);
      rmSync(resume);
      expect(code).to.equal(1);
      expect(err).to.include("Receipt\n").and.include("payphone: 410 Gone").and.not.include("No receipt");
      expect(err).to.include(TRANSACTION).and.include(`--resume ${resume}`);
    }
  });

  it("names the transaction of a receipt that comes with a failure after which the payment is sent again", async () => {
    for (const [success, why] of [
      [true, `500 out of dice, with a receipt: settled in ${TRANSACTION}`],
      [false, "500 out of dice"],
    ] as const) {
      const headers = { "payment-response": btoa(JSON.stringify({ success, transaction: TRANSACTION })) };
      seller.script.answers = [{ status: 500, body: { detail: "out of dice" }, headers }];
      const { code, out } = await run({ url: seller.url, waitSeconds: 0, json: true });
      const { error, resume } = JSON.parse(out);
      rmSync(resume);
      expect([code, error.message]).to.deep.equal([
        4,
        `the payment was sent, and its result is not known yet (${why})`,
      ]);
    }
  });

  it("takes a receipt that does not say whether it was paid for none", async () => {
    const headers = { "payment-response": btoa(JSON.stringify({ success: "false", transaction: TRANSACTION })) };
    seller.script.answers = [{ status: 410, body: { title: "Gone" }, headers }];
    expect((await run({ url: seller.url })).err)
      .to.include("No receipt came")
      .and.not.include(TRANSACTION);
  });

  it("puts the answer into the document of --json", async () => {
    seller.script.answers = [{ status: 402, body: { error: "expired" } }];
    const { code, out } = await run({ url: seller.url, json: true });
    expect(code).to.equal(1);
    expect(JSON.parse(out).error).to.deep.equal({
      code: "upstream-failed",
      message: "402 The payment was refused: expired",
      status: 402,
      answer: { error: "expired" },
    });
  });
});
