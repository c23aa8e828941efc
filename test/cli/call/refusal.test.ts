import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "chai";
import type { CallOptions } from "../../../runtime/cli/call/call.ts";
import type { Env } from "../../../runtime/cli/config/reader.ts";
import { createFolder } from "../../support/folder.ts";
import { run, runRefused } from "./run.ts";
import { JPYC_OFFER, PAY_TO, type Seller, startSeller, USDC_OFFER } from "./seller.ts";

const NO_SANDBOX = { status: 404, body: {} };

describe("payphone call refuses", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  const refusal = (code: number, options: Partial<CallOptions>, env: Env = {}): Promise<string> =>
    runRefused(seller, code, options, env);

  it("a price above --max-usd, naming the flag", async () => {
    seller.script.offers = [{ ...USDC_OFFER, amount: "1770000" }];
    expect(await refusal(3, {})).to.equal(
      "payphone: this call costs 1.77 USD, more than the 1 that --max-usd allows; use --max-usd 1.77 to pay it. Nothing was paid.",
    );
    expect((await run({ url: seller.url, limits: { usd: "1.77", jpy: "200" } })).code).to.equal(0);
  });

  it("a payment that cannot be kept for --resume, naming the variable", async () => {
    const { TMPDIR } = process.env;
    process.env.TMPDIR = import.meta.filename; // A file.
    const said = await refusal(1, {}).finally(() => {
      if (TMPDIR === undefined) delete process.env.TMPDIR;
      else process.env.TMPDIR = TMPDIR;
    });
    expect(said).to.match(
      /^payphone: the payment cannot be kept in \S+ \(ENOTDIR\), and was not sent: name another folder in TMPDIR\. Nothing was paid\.$/,
    );
  });

  it("an amount that no limit can hold", async () => {
    seller.script.offers = [{ ...USDC_OFFER, amount: "9".repeat(60) }];
    expect(await refusal(3, {})).to.include("more than the 1 that --max-usd allows");
  });

  it("yen above --max-jpy, whatever the seller says of dollars", async () => {
    seller.script.offers = [{ ...JPYC_OFFER, amount: `350${"0".repeat(18)}` }];
    expect(await refusal(3, {})).to.equal(
      "payphone: this call costs 350 JPYC, more than the 200 that --max-jpy allows; use --max-jpy 350 to pay it. Nothing was paid.",
    );
    expect((await run({ url: seller.url, limits: { usd: "1", jpy: "350" } })).code).to.equal(0);
  });

  it("yen for a call whose price in dollars is above --max-usd", async () => {
    seller.script.offers = [JPYC_OFFER];
    seller.script.priceUsd = "5.00";
    expect(await refusal(3, {})).to.include("this call costs 5 USD, more than the 1 that --max-usd allows");
    seller.script.offers = [{ ...USDC_OFFER, amount: "2000000" }, JPYC_OFFER];
    expect(await refusal(3, { rail: "polygon" })).to.include("this call costs 2 USD");
    seller.script.offers = [JPYC_OFFER];
    seller.script.priceUsd = "call us";
    expect((await run({ url: seller.url })).code).to.equal(0);
  });

  it("another currency without a limit for it, whatever the seller says of dollars", async () => {
    const dir = createFolder();
    const eurc = { ...USDC_OFFER, asset: "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42", amount: "1000000000" };
    const asset = `asset: "${eurc.asset}"`;
    const token = `title: EURC on Base, ${asset}, symbol: EURC, decimals: 6, currency: eur`;
    const rail = `id: eurc, network: "eip155:8453", ${token}, explorer: "https://basescan.org/tx/{tx}"`;
    await mkdir(join(dir, "manifests"));
    await writeFile(join(dir, "manifests/_site.yaml"), `rails: [{ ${rail} }]\n`);
    seller.script.offers = [eurc, USDC_OFFER];
    expect(await refusal(3, { dir })).to.equal(
      "payphone: this call costs 1000 EURC; use --max eur=1000 to pay it, or another --rail. Nothing was paid.",
    );
    expect(await refusal(3, { dir, limits: { usd: "1", jpy: "200", eur: "0.9" } })).to.equal(
      "payphone: this call costs 1000 EURC, more than the 0.9 that --max eur allows; use --max eur=1000 to pay it. Nothing was paid.",
    );
    expect((await run({ url: seller.url, dir, limits: { usd: "1", jpy: "200", eur: "1000" } })).code).to.equal(0);
  });

  it("to pay without a wallet", async () => {
    seller.script.sandbox = NO_SANDBOX;
    expect(await refusal(3, {})).to.equal(
      'payphone: there is no wallet to pay with: set BUYER_EVM_KEY (or BUYER_EVM_KEY_FILE); a sandbox ("npm start") lends its own. Nothing was paid.',
    );
  });

  it("to pay where it is not said whether this is a sandbox, unless the buyer says that it is none", async () => {
    const env = { BUYER_EVM_KEY: "5".repeat(64) };
    for (const said of [{ status: 503 }, { status: 429 }, undefined]) {
      seller.script.sandbox = said;
      const asked = await refusal(1, {}, env);
      expect(asked).to.match(/does not say whether it is a sandbox \((503|429|.* does not answer .*)\)/);
      expect(asked).to.match(/: use --no-sandbox if .*\. Nothing was paid\.$/);
    }
    seller.script.sandbox = { status: 200, body: { mode: "sandbox" } };
    expect((await run({ url: seller.url, sandbox: false }, { env })).err).to.include("(your wallet)");
  });

  it("a rail on which the call is not sold", async () => {
    expect(await refusal(3, { rail: "solana" })).to.equal(
      "payphone: this call is not sold on solana; use --rail base or --rail polygon. Nothing was paid.",
    );
  });

  const strange: [string, object][] = [
    ["another token", { ...USDC_OFFER, asset: PAY_TO }],
    ["another chain", { ...USDC_OFFER, network: "eip155:1" }],
    ["another scheme", { ...USDC_OFFER, scheme: "upto" }],
    [
      "another way to move the token",
      { ...USDC_OFFER, extra: { ...USDC_OFFER.extra, assetTransferMethod: "permit2" } },
    ],
    ["an amount that is no number", { ...USDC_OFFER, amount: "1e3" }],
    ["a larger amount than any token has", { ...USDC_OFFER, amount: String(2n ** 256n) }],
  ];
  for (const [what, offer] of strange)
    it(`${what} than a known rail's`, async () => {
      seller.script.offers = [offer];
      expect(await refusal(3, {})).to.equal(
        "payphone: none of the offers is an exact payment (on EVM by EIP-3009) in a known rail's token. Nothing was paid.",
      );
    });

  it("other schemes than exact, and names them", async () => {
    const permit2 = { ...USDC_OFFER, extra: { ...USDC_OFFER.extra, assetTransferMethod: "permit2" } };
    seller.script.offers = [{ ...USDC_OFFER, scheme: "upto" }, permit2];
    const { code, err } = await run({ url: seller.url });
    expect(code).to.equal(3);
    expect(err).to.include(` upto, eip155:8453 ${USDC_OFFER.asset} `);
    expect(err).to.include(` exact permit2, eip155:8453 ${USDC_OFFER.asset} `);
  });

  it("to print thousands of offers: some, and how many more there are, each rail named once", async () => {
    const accepts = Array.from({ length: 3000 }, () => USDC_OFFER);
    seller.script.unpaid = { status: 402, body: { x402Version: 2, resource: { url: seller.url }, accepts } };
    const { code, err } = await run({ url: seller.url, rail: "polygon" });
    expect(code).to.equal(3);
    expect(err.split("\n").length).to.be.below(40);
    expect(err)
      .to.include("  and 2980 more\n")
      .and.to.match(/use --rail base\. Nothing was paid\.$/);
  });

  it("to sign what could be taken for longer than a day, or for parts of a second", async () => {
    for (const [seconds, fault] of [
      [86_401, "longer than a day"],
      [60.5, "no whole number"],
    ] as const) {
      seller.script.offers = [{ ...USDC_OFFER, maxTimeoutSeconds: seconds }];
      expect(await refusal(3, {})).to.equal(
        `payphone: the seller could use the payment for ${seconds} seconds, which is ${fault}. Nothing was paid.`,
      );
    }
  });

  it("a challenge that is not x402 version 2", async () => {
    const first = { ...USDC_OFFER, network: "base", maxAmountRequired: "1000", resource: seller.url, description: "" };
    seller.script.unpaid = { status: 402, body: { x402Version: 1, error: "?", accepts: [first] } };
    expect(await refusal(1, {})).to.equal(
      "payphone: the seller asks for payment, but it speaks only x402 version 1: nothing was paid",
    );
    seller.script.unpaid = { status: 402, body: "pay me", headers: { "payment-required": "e30=" } };
    expect(await refusal(1, {})).to.equal(
      "payphone: the seller asks for payment, but its challenge is malformed: nothing was paid",
    );
  });

  it("a service for wallets that sign in, with the command that does so", async () => {
    const extensions = { "sign-in-with-x": { info: {}, supportedChains: [] } };
    const resource = { url: "https://seller.example/v1/purchases" };
    seller.script.unpaid = { status: 402, body: { x402Version: 2, error: "?", resource, accepts: [], extensions } };
    expect(await refusal(3, {})).to.match(
      /free, for a wallet that signs in; "payphone purchases" .*Nothing was paid\.$/,
    );
  });

  it("a service that the seller does not have, with what it has", async () => {
    expect(await refusal(2, { service: "rol" })).to.equal(
      `payphone: ${seller.url} has no service "rol": it sells roll, verify, job; did you mean "roll"?`,
    );
  });

  it("without a control character of the seller's in what it says", async () => {
    const odd = "rol\u202e\u009d\nA line of its own";
    seller.script.also = odd;
    seller.script.offers = [{ ...USDC_OFFER, payTo: odd }];
    const said = [await refusal(2, { service: "rol" }), await refusal(1, {})];
    expect(said[0]).to.contain("it sells roll, verify, job, rol   A line of its own;");
    expect(said[1]).to.match(/^payphone: the payment could not be signed: .*rol {3}A line of its own/);
    expect(said.join("")).not.to.match(/[\p{Cc}\p{Cf}]/u);
  });

  it("a poll whose address lacks its parameter", async () => {
    expect(await refusal(2, { service: "job", input: "{}" })).to.equal(
      `payphone: the address holds {job_id}: give it in the input, like '{"job_id":"…"}'`,
    );
  });

  it("a file that holds no payment", async () => {
    const directory = createFolder();
    const file = join(directory, "payment.json");
    const whole = { request: { url: seller.url, method: "POST" }, payment: "e30=", note: {} };
    for (const lost of [{ request: { url: "x" } }, { payment: undefined }, { note: undefined }]) {
      await writeFile(file, JSON.stringify({ ...whole, ...lost }));
      expect(await refusal(2, { resume: file })).to.equal(
        `payphone: --resume: ${file} holds no payment of "payphone call"`,
      );
    }
    expect(await refusal(2, { resume: join(directory, "none.json") })).to.match(
      /^payphone: --resume cannot read .+ENOENT/,
    );
  });

  it("to go on when nothing answers", async () => {
    const { url } = seller;
    await seller.stop();
    const { code, err } = await run({ url });
    seller = await startSeller();
    expect([code, err]).to.deep.equal([1, `payphone: ${url} does not answer (ECONNREFUSED)`]);
  });
});
