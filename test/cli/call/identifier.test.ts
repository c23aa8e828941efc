import { chownSync, existsSync, rmSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { declarePaymentIdentifierExtension, extractPaymentIdentifier } from "@x402/extensions/payment-identifier";
import { expect } from "chai";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { itAsRoot } from "../../support/as-root.ts";
import { encode } from "../../support/sellers/signed.ts";
import { run } from "./run.ts";
import { NOT_YET, PAID, type Seller, startSeller } from "./seller.ts";

const ID = "order_2026_11_22_0001";

/** As the official package reads it. */
const named = (payment: PaymentPayload): string | null =>
  extractPaymentIdentifier(payment as Parameters<typeof extractPaymentIdentifier>[0]);

describe("the identifier of a call", () => {
  let seller: Seller;
  beforeEach(async () => {
    seller = await startSeller();
    seller.script.extensions = { "payment-identifier": declarePaymentIdentifierExtension() };
  });
  afterEach(() => seller.stop());

  const ids = (): (string | null)[] => seller.paid().map(({ decoded }) => named(decoded));

  it("is a new one for each call, told beside the price", async () => {
    const one = await run({ url: seller.url });
    const two = await run({ url: seller.url, json: true });
    const [first, second] = ids();
    expect(first).to.match(/^pay_[0-9a-f]{32}$/);
    expect(second)
      .to.match(/^pay_[0-9a-f]{32}$/)
      .and.not.to.equal(first);
    expect(one.err).to.include(`as ${first}\n`);
    expect(JSON.parse(two.out).payment.identifier).to.equal(second);
  });

  it("is the buyer's own where one is given", async () => {
    const { err } = await run({ url: seller.url, identifier: ID });
    expect(ids()).to.deep.equal([ID]);
    expect(err).to.include(`as ${ID}; a seller that keeps names does not charge it again with this wallet`);
    expect(err).to.match(/^ {2}paid +0\.001 USDC, or what was paid before under this name$/m);
  });

  it("finds what was paid on another network, whose receipt is no payment of now and no transaction here", async () => {
    const receipt = { success: true, transaction: "0x01", network: "eip155:137", payer: seller.buyer };
    const headers = { "payment-response": encode(receipt) };
    seller.script.answers = [{ status: 200, body: {}, headers }];
    const { code, err } = await run({ url: seller.url, identifier: ID });
    expect(code).to.equal(0);
    expect(err)
      .to.match(/paid +nothing now, .*\n +network +eip155:137\n/)
      .and.not.to.include("basescan.org");
    const another = await run({ url: seller.url });
    expect(another.err, "under a new name").to.match(/paid +not known: .* another network .*\n/);
    const { receipt: reported } = JSON.parse((await run({ url: seller.url, identifier: ID, json: true })).out);
    expect(reported).to.deep.equal({ ...receipt, explorer_url: null });
  });

  it("is told when the outcome is not known, to repeat the call without the payment's file", async () => {
    seller.script.answers = [NOT_YET];
    const { code, err } = await run({ url: seller.url, waitSeconds: 0 });
    expect(code).to.equal(4);
    const repeat = `repeat the command with --rail base --resume ${ids()[0]}`;
    expect(err).to.include(repeat);
    const resume = /--resume (\S+)\n/.exec(err)?.[1];
    expect((await run({ service: undefined, waitSeconds: 0, resume })).err, "and each time").to.include(repeat);
  });

  it("brings the same payment again while it can be used, as a seller that keeps no names would charge a new one", async () => {
    seller.script.answers = [NOT_YET];
    const { out } = await run({ url: seller.url, waitSeconds: 0, json: true, identifier: ID });
    const { resume } = JSON.parse(out);
    const distinct = (): number => new Set(seller.paid().map(({ payment }) => payment)).size;

    seller.script.answers = [{ status: 402, body: { error: "nonce_already_used" } }];
    const refused = await run({ url: seller.url, identifier: ID });
    expect([refused.code, seller.paid().length, distinct()], "refused when it comes again").to.deep.equal([1, 2, 1]);
    expect(refused.err).to.include(`is sent again (${resume})`).and.include("look into your wallet");

    seller.script.answers = [PAID];
    await run({ url: seller.url, identifier: ID, input: '{"low":1,"high":7}' });
    expect(distinct(), "another input is another purchase").to.equal(2);
    const again = await run({ url: seller.url, identifier: ID, dryRun: true });
    expect(again.err, "a dry run sends nothing").to.include("Dry run: nothing was paid.");
    expect((await run({ url: seller.url, identifier: ID })).code).to.equal(0);
    expect([seller.paid().length, distinct(), existsSync(resume)]).to.deep.equal([4, 2, false]);
  });

  itAsRoot("brings no payment that another user has put where payments are kept", async () => {
    seller.script.answers = [NOT_YET];
    const { out } = await run({ url: seller.url, waitSeconds: 0, json: true, identifier: ID });
    const { resume } = JSON.parse(out);
    chownSync(resume, 65_534, 65_534);
    seller.script.answers = [PAID];
    const { code, err } = await run({ url: seller.url, identifier: ID });
    rmSync(resume);
    expect(code).to.equal(0);
    expect(err).not.to.include("is sent again");
    expect(new Set(seller.paid().map(({ payment }) => payment)).size).to.equal(2);
  });

  it("brings a new payment when the one that is kept can be used no more", async () => {
    seller.script.answers = [NOT_YET];
    const { out } = await run({ url: seller.url, waitSeconds: 0, json: true, identifier: ID });
    const { resume } = JSON.parse(out);
    const kept = await readFile(resume, "utf8");
    await writeFile(resume, kept.replace(/"until": \d+/, `"until": ${Date.now()}`));
    seller.script.answers = [PAID];
    const { code, err } = await run({ url: seller.url, identifier: ID });
    expect(code).to.equal(0);
    expect(err, "told before").to.match(
      / can be used no more \(.*\)\. It may have been taken: .*\n(?:.*\n)*Paying 0\.001/,
    );
    expect(err).to.include(resume);
    expect(new Set(seller.paid().map(({ payment }) => payment)).size).to.equal(2);
    rmSync(resume);
  });

  it("prints no control characters of a payment's file, which may be a stranger's", async () => {
    seller.script.answers = [NOT_YET];
    const { out } = await run({ url: seller.url, waitSeconds: 0, json: true, identifier: ID });
    const { resume } = JSON.parse(out);
    const kept = JSON.parse(await readFile(resume, "utf8"));
    for (const name of ["rail", "title", "amount", "symbol", "payer", "identifier"]) kept.note[name] = "a\r\u202eb";
    await writeFile(resume, JSON.stringify(kept));
    const again = { service: undefined, url: seller.url, waitSeconds: 0, resume };
    expect((await run(again)).err)
      .to.include("--rail a  b")
      .and.not.match(/[\r\u202e]/);
    seller.script.answers = [{ ...PAID, headers: {} }];
    expect((await run(again)).err)
      .to.match(/paid +a {2}b a {2}b\n/)
      .and.not.match(/[\r\u202e]/);
    await writeFile(resume, "{\r\u202e");
    expect((await run(again)).err)
      .to.include(`cannot read ${resume}`)
      .and.not.match(/[\r\u202e]/);
    rmSync(resume);
  });

  it("does not hide, when a payment is refused, that an earlier one may have been taken", async () => {
    seller.script.answers = [{ status: 402, body: { error: "insufficient_funds" } }];
    const { code, err } = await run({ url: seller.url, identifier: ID });
    expect(code).to.equal(1);
    expect(err).to.include("nothing was paid now; an earlier payment under this name may have been taken.\n");
  });

  it("is not sent to a seller who does not look at it, and nothing is paid then", async () => {
    seller.script.extensions = undefined;
    const { code, err } = await run({ url: seller.url, identifier: ID });
    expect([code, seller.paid().length]).to.deep.equal([3, 0]);
    expect(err).to.match(/takes no payment-identifier.*Nothing was paid\.$/);
    expect((await run({ url: seller.url })).code).to.equal(0);
    expect(ids()).to.deep.equal([null]);
  });
});
