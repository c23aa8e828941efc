import { authorizationTypes } from "@x402/evm";
import { expect } from "chai";
import type { Hex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { recoverTypedDataAddress } from "viem/utils";
import type { Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { encode } from "../../support/sellers/signed.ts";
import { run } from "./run.ts";
import { JPYC_OFFER, PAID, PAY_TO, RESULT, type Seller, startSeller, TRANSACTION, USDC_OFFER } from "./seller.ts";

/** Who signed an EIP-3009 payment. */
function signerOf({ accepted, payload }: PaymentPayload): Promise<string> {
  const { from, to, nonce, ...numbers } = payload.authorization as Eip3009["authorization"];
  return recoverTypedDataAddress({
    domain: {
      name: String(accepted.extra.name),
      version: String(accepted.extra.version),
      chainId: Number(accepted.network.split(":")[1]),
      verifyingContract: accepted.asset as Hex,
    },
    types: authorizationTypes,
    primaryType: "TransferWithAuthorization",
    message: {
      from,
      to,
      nonce,
      value: BigInt(numbers.value),
      validAfter: BigInt(numbers.validAfter),
      validBefore: BigInt(numbers.validBefore),
    },
    signature: payload.signature as Hex,
  });
}

describe("payphone call", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
  });
  afterEach(() => seller.stop());

  it("stops at the challenge on a dry run, and shows its price on every rail", async () => {
    const { code, out, err } = await run({ url: seller.url, dryRun: true });
    expect([code, out]).to.deep.equal([0, ""]);
    expect(err.split("\n")).to.deep.equal([
      `POST ${seller.url}/v1/roll`,
      "402 Payment required: Rolls [2J dice",
      "",
      "  rail     price                        pay to",
      `  base     0.001 USDC  USDC on Base     ${PAY_TO}`,
      `  polygon  0.1 JPYC    JPYC on Polygon  ${PAY_TO}`,
      "",
      "Dry run: nothing was paid.",
    ]);
    expect(seller.met.map(({ method, url }) => `${method} ${url}`)).to.deep.equal(["GET /", "POST /v1/roll"]);
  });

  it("pays with the sandbox's buyer, and shows the result, the receipt and the explorer's link", async () => {
    const { code, out, err } = await run({ url: seller.url });
    expect(code).to.equal(0);
    expect(JSON.parse(out)).to.deep.equal(RESULT);
    const [payment] = seller.paid();
    expect(payment?.body).to.deep.equal({ low: 1, high: 6 });
    expect(payment?.decoded.accepted).to.deep.equal(USDC_OFFER);
    expect(payment?.decoded.resource?.url).to.equal(`${seller.url}/v1/roll`);
    expect(await signerOf(payment!.decoded)).to.equal(seller.buyer);
    expect(payment?.decoded.payload.authorization).to.include({ to: PAY_TO, value: "1000", from: seller.buyer });
    expect(err).to.include("  paid         0.001 USDC\n  network      USDC on Base, eip155:8453\n  payer        0x1\n");
    expect(err).to.include(`  transaction  ${TRANSACTION}\n  explorer     https://basescan.org/tx/${TRANSACTION}\n`);
    expect(err).to.match(/\n {2}time {9}\d+ ms$/);
  });

  it("calls nothing paid whose receipt is of a failure", async () => {
    const receipt = { success: false, errorReason: "no", transaction: "", network: "eip155:8453" };
    const headers = { "payment-response": encode(receipt) };
    seller.script.answers = [{ ...PAID, headers }];
    const { code, err } = await run({ url: seller.url });
    expect(code).to.equal(0);
    expect(err).to.match(/\nThe receipt is of a failure: by the seller's account, nothing was paid\.$/);
  });

  it("says what it pays, and from whose wallet, before it pays", async () => {
    const said: string[] = [];
    let before = 0;
    seller.script.onPaid = () => {
      before = said.length;
    };
    await run({ url: seller.url }, { heard: (line) => said.push(line) });
    expect(said[before - 1]).to.equal(
      `Paying 0.001 USDC (USDC on Base) from ${seller.buyer} (the sandbox's buyer: no real money) to ${PAY_TO}`,
    );
  });

  it("pays on the rail that is asked for", async () => {
    const { code } = await run({ url: seller.url, rail: "polygon" });
    expect(code).to.equal(0);
    const [payment] = seller.paid();
    expect(payment?.decoded.accepted).to.deep.equal(JPYC_OFFER);
    expect(await signerOf(payment!.decoded)).to.equal(seller.buyer);
  });

  it("pays the cheapest of several offers on one rail", async () => {
    seller.script.offers = [{ ...USDC_OFFER, amount: "1770000" }, JPYC_OFFER, USDC_OFFER];
    await run({ url: seller.url });
    expect(seller.paid().map(({ decoded }) => decoded.accepted)).to.deep.equal([USDC_OFFER]);
  });

  it("holds what it pays against --max-usd, and signs nothing else, however little another offer asks for", async () => {
    const asset = "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v";
    const solana = { ...USDC_OFFER, network: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", asset };
    const permit2 = { ...USDC_OFFER, amount: "1", extra: { ...USDC_OFFER.extra, assetTransferMethod: "permit2" } };
    seller.script.offers = [solana, { ...USDC_OFFER, amount: "1770000" }];
    expect((await run({ url: seller.url })).err).to.match(
      /this call costs 1\.77 USD, more than the 1 .* Nothing was paid/,
    );
    seller.script.offers = [permit2, USDC_OFFER];
    await run({ url: seller.url });
    expect(seller.paid().map(({ decoded }) => decoded.accepted)).to.deep.equal([USDC_OFFER]);
  });

  it("pays a live seller from the environment's key, also one that answers everything", async () => {
    const key = generatePrivateKey();
    for (const sandbox of [
      { status: 404, body: {} },
      { status: 200, body: { mode: "live" } },
    ]) {
      seller.script.sandbox = sandbox;
      const { code, err } = await run({ url: seller.url }, { env: { BUYER_EVM_KEY: key } });
      expect(code, err).to.equal(0);
      expect(await signerOf(seller.paid().at(-1)!.decoded)).to.equal(privateKeyToAddress(key));
      expect(err).to.include(`from ${privateKeyToAddress(key)} (your wallet) to ${PAY_TO}`);
    }
  });

  it("never signs with a real key in a sandbox, whose tokens stand at the real addresses", async () => {
    await run({ url: seller.url }, { env: { BUYER_EVM_KEY: generatePrivateKey() } });
    expect(await signerOf(seller.paid()[0]!.decoded)).to.equal(seller.buyer);
  });

  it("never signs with a real key in a sandbox below a path either, wherever it looks for services", async () => {
    const env = { BUYER_EVM_KEY: generatePrivateKey() };
    const deep = "/one/of/many/teams/shops";
    for (const [path, url] of [
      ["/team/shop", seller.url],
      ["/team/shop", "http://127.0.0.1:1"],
      ["/team/shop", `${seller.url}/team`],
      [deep, seller.url + deep],
    ] as const) {
      seller.script.path = path;
      for (const name of ["roll", "unlisted"]) await run({ url, service: `${seller.url}${path}/v1/${name}` }, { env });
    }
    const signers = await Promise.all(seller.paid().map(({ decoded }) => signerOf(decoded)));
    expect(signers).to.deep.equal(Array.from({ length: 8 }, () => seller.buyer));
  });

  it("prints the result of a free service, without asking for a wallet", async () => {
    const { code, out } = await run({ url: seller.url, service: "verify", input: undefined });
    expect([code, JSON.parse(out)]).to.deep.equal([0, { valid: true }]);
    expect(seller.met.map(({ url, body }) => [url, body])).to.deep.equal([
      ["/", undefined],
      ["/v1/verify", {}],
    ]);
  });

  it("finds a service by its path and by its URL as well", async () => {
    for (const service of ["/v1/roll", "v1/roll", `${seller.url}/v1/roll`]) {
      const { code } = await run({ url: seller.url, service });
      expect(code, service).to.equal(0);
    }
    expect(seller.paid()).to.have.length(3);
  });

  it("puts the input of a GET into its path and query", async () => {
    const input = JSON.stringify({ job_id: "a/b", page: 2, tags: ["x", "y,z"], none: null });
    const { code } = await run({ url: seller.url, service: "job", input });
    expect(code).to.equal(0);
    expect(seller.met[1]).to.include({ method: "GET", url: "/v1/jobs/a%2Fb?page=2&tags=x&tags=y%2Cz" });
    await run({ service: `${seller.url}/v1/jobs/7?page=1&of=9`, method: "GET", input: '{"page":2}' });
    expect(seller.met.at(-1)?.url, "in place of what stands there").to.equal("/v1/jobs/7?of=9&page=2");
    await run({ url: seller.url, service: "/v1/roll?low=1", input: undefined });
    expect(seller.met.at(-1), "the query of a POST").to.include({ method: "GET", url: "/v1/roll?low=1" });
  });

  for (const id of ["", ".", ".."])
    it(`sends nothing to another path where a parameter of the path is "${id}"`, async () => {
      const { code, err } = await run({ url: seller.url, service: "job", input: JSON.stringify({ job_id: id }) });
      expect(code).to.equal(2);
      expect(err).to.include("{job_id} is a part of the address");
      expect(seller.met.map(({ url }) => url)).to.deep.equal(["/"]);
    });

  it("prints one JSON document with --json", async () => {
    const { code, out } = await run({ url: seller.url, json: true });
    expect(code).to.equal(0);
    const { offers, elapsed_ms, ...rest } = JSON.parse(out);
    expect(offers[0]).to.deep.equal({ ...USDC_OFFER, rail: "base", price: "0.001", symbol: "USDC" });
    expect(elapsed_ms).to.be.a("number");
    expect(rest).to.deep.equal({
      request: { method: "POST", url: `${seller.url}/v1/roll` },
      payment: {
        rail: "base",
        title: "USDC on Base",
        symbol: "USDC",
        explorer: "https://basescan.org/tx/{tx}",
        amount: "0.001",
        payer: seller.buyer,
        wallet: "sandbox",
      },
      receipt: {
        success: true,
        transaction: TRANSACTION,
        network: "eip155:8453",
        payer: "0x1",
        explorer_url: `https://basescan.org/tx/${TRANSACTION}`,
      },
      result: RESULT,
    });
  });

  for (const odd of [{ transaction: 7 }, { payer: [] }, { transaction: null, payer: { a: 1 } }])
    it(`delivers what was paid for, whatever the receipt says: ${JSON.stringify(odd)}`, async () => {
      const receipt = { success: true, transaction: TRANSACTION, network: "eip155:8453", payer: "0x1", ...odd };
      const headers = { "payment-response": encode(receipt) };
      seller.script.answers = [{ status: 200, body: RESULT, headers }];
      const { code, err } = await run({ url: seller.url });
      expect([code, err.includes("  paid         0.001 USDC\n")]).to.deep.equal([0, true]);
      expect(JSON.parse((await run({ url: seller.url, json: true })).out)).to.deep.include({ result: RESULT });
    });

  it("prints a result that is nested too deeply as its text", async () => {
    const text = "[".repeat(50_000) + "]".repeat(50_000);
    seller.script.answers = [{ ...PAID, text }];
    expect(await run({ url: seller.url })).to.deep.include({ code: 0, out: text });
    expect(JSON.parse((await run({ url: seller.url, json: true })).out)).to.deep.include({ result: text });
  });

  it("prints numbers that JavaScript would round as they were sent", async () => {
    const text = '{"id":12345678901234567890,"most":1e400,"price":0.10000000000000000555,"few":[1.5,-7]}';
    seller.script.answers = [{ ...PAID, text }];
    const [plain, inReport] = [await run({ url: seller.url }), await run({ url: seller.url, json: true })];
    expect(plain.out.replaceAll(/\s/g, "")).to.equal(text);
    expect(inReport.out.replaceAll(/\s/g, "")).to.contain(`"result":${text}`);
  });

  it("lets no control character of a seller's through to the terminal", async () => {
    const { out, err } = await run({ url: seller.url });
    expect((out + err).replaceAll("\n", "")).not.to.match(/[\p{Cc}\p{Cf}]/u);
  });
});
