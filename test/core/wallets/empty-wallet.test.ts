import { x402Client } from "@x402/core/client";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { rail, sharedSandbox, type TestSandbox } from "../../support/chains/chains.ts";
import { nonceOf } from "../../support/chains/scripted-rail.ts";
import { createSmartWallet } from "../../support/chains/smart-wallet.ts";
import { createDataDir, type Seller, startSeller } from "../../support/sellers/seller.ts";
import { openShop, type Shop } from "../../support/sellers/shop.ts";
import { toSigner } from "../../support/sellers/smart-buyer.ts";
import { json, receiptOf } from "../../support/sellers/stock-buyer.ts";

const ROLL = { low: 1, high: 6 };
const ID = "pay_0123456789abcdef";

describe("a payer with nothing left who names an earlier purchase", () => {
  let shop: Shop;
  beforeEach(async () => {
    shop = await openShop();
  });
  afterEach(() => shop.close());

  const buy = async (options: object = {}, input: object = ROLL): Promise<Response> =>
    shop.retry("/v1/roll", input, await shop.pay("/v1/roll", { identifier: ID, ...options }));
  /** From now on nobody has money; whoever signs with one of these nonces, or with any, is proven. */
  const drain = (isProven: (nonce: string) => boolean = () => true): void => {
    shop.rail.script.verify = () => ({ isValid: false, invalidReason: "insufficient_funds" });
    shop.rail.script.provePayer = async (payload) => isProven(nonceOf({ payload: { ...payload } }));
  };

  it("gets its answer, without asking the facilitator", async () => {
    const first = await buy();
    drain();
    const asked = shop.rail.asked.verify;
    const again = await buy();
    expect(await again.json()).to.deep.equal(await first.json());
    expect(shop.receipt(again)).to.deep.equal(shop.receipt(first));
    expect([shop.executions, shop.rail.moved.size, shop.rail.asked.verify]).to.deep.equal([1, 1, asked]);
  });

  it("gets its answer while the facilitator cannot be asked", async () => {
    const first = await buy();
    drain();
    shop.rail.script.verify = () => Promise.reject(new Error("away"));
    expect(await (await buy()).json()).to.deep.equal(await first.json());
  });

  it("gets nothing when the signature is not its own", async () => {
    await buy();
    drain(() => false);
    const refused = await buy();
    expect(refused.status).to.equal(402);
    expect(((await refused.json()) as { error: string }).error).to.match(/^insufficient_funds/);
  });

  it("gets nothing when the signature cannot be checked, or belongs to another payer", async () => {
    await buy();
    drain();
    expect((await buy({ from: `0x${"44".repeat(20)}` })).status).to.equal(402);
    shop.rail.script.provePayer = () => Promise.reject(new Error("the node is away"));
    expect((await buy()).status).to.equal(402);
  });

  it("gets nothing by a payment that was settled for something else, which anybody could copy from the chain", async () => {
    await buy();
    const other = await shop.pay("/v1/roll", { identifier: "other_0123456789abcdef" });
    expect((await shop.retry("/v1/roll", { low: 1, high: 9 }, other)).status).to.equal(200);
    drain();
    const payment = JSON.parse(Buffer.from(other, "base64").toString());
    payment.extensions["payment-identifier"].info.id = ID;
    const copied = Buffer.from(JSON.stringify(payment)).toString("base64");
    const refused = await shop.retry("/v1/roll", ROLL, copied);
    expect(refused.status).to.equal(409);
    expect(await refused.json()).not.to.have.property("value");
  });

  it("gets nothing by a copy of the settled payment itself once its answer is for its wallet alone", async () => {
    const payment = await shop.pay("/v1/roll", { identifier: ID });
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(200);
    drain();
    shop.clock.advance(60 * 60_000);
    expect((await shop.retry("/v1/roll", ROLL, payment)).status).to.equal(402);
  });

  it("is told 409 for another input, and 402 where nothing was bought under this name", async () => {
    await buy();
    drain();
    expect((await buy({}, { low: 1, high: 7 })).status).to.equal(409);
    expect((await buy({ identifier: "never_0123456789abc" })).status).to.equal(402);
    expect(shop.executions).to.equal(1);
  });

  it("is told that the outcome is unknown while it is, instead of that its wallet is empty", async () => {
    shop.rail.script.settle = () => Promise.reject(new Error("timeout"));
    shop.rail.script.find = () => Promise.reject(new Error("the node is away"));
    expect((await buy()).status).to.equal(503);
    drain();
    expect(await (await buy()).json()).to.have.property("code", "settlement-unknown");
  });
});

describe("a stock buyer whose wallet held one price", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  const data = createDataDir();
  before(async () => {
    sandbox = await sharedSandbox();
    seller = await startSeller({ sandbox, dataDir: data.path });
  });
  after(async () => {
    expect(await seller.stop()).to.equal(0);
    data.remove();
  });

  /** A wallet with one price and nothing else: of a key, or of a contract that is deployed. */
  async function openWallet(id: "base" | "polygon", kind: Kind): Promise<x402Client> {
    const { network, asset } = rail(id);
    const caip = network as `eip155:${string}`;
    const wallet = kind === "contract" ? await createSmartWallet(sandbox.chains.evm.get(network)!) : undefined;
    await wallet?.deploy();
    const signer = wallet ? toSigner(wallet) : privateKeyToAccount(generatePrivateKey());
    await sandbox.chains.tokens.get(id)!.mint(signer.address, id === "base" ? 1000n : 10n ** 17n);
    return new x402Client()
      .register(caip, new ExactEvmScheme(signer))
      .registerPolicy((_version, offers) => offers.filter((offer) => offer.network === network))
      .setSpendControls({ allowedAssets: [{ network: caip, asset }] });
  }

  async function buy(client: x402Client, name: string): Promise<Response> {
    const required = (await (await fetch(`${seller.url}/v1/roll`, json(ROLL))).json()) as PaymentRequired;
    appendPaymentIdentifierToExtensions(required.extensions!, name);
    const payment = encodePaymentSignatureHeader(await client.createPaymentPayload(required));
    const init = json(ROLL);
    return fetch(`${seller.url}/v1/roll`, { ...init, headers: { ...init.headers, "payment-signature": payment } });
  }

  for (const id of ["base", "polygon"] as const)
    for (const kind of ["key", "contract"] as const)
      it(`fetches its answer again with the wallet of a ${kind} on ${rail(id).title}`, async () => {
        const client = await openWallet(id, kind);
        const name = generatePaymentId();
        const first = await buy(client, name);
        expect(first.status, await first.clone().text()).to.equal(200);
        const again = await buy(client, name);
        expect(again.status, await again.clone().text()).to.equal(200);
        expect(await again.text()).to.equal(await first.text());
        expect(receiptOf(again)).to.deep.equal(receiptOf(first));
        expect((await buy(client, generatePaymentId())).status, "nothing new").to.equal(402);
      });
});

type Kind = "key" | "contract";
