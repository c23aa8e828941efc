import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { PaymentRequired, PaymentRequirements } from "@x402/core/types";
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier";
import { createSIWxPayload, encodeSIWxHeader } from "@x402/extensions/sign-in-with-x";
import { expect } from "chai";
import { type Hex, parseErc6492Signature, serializeErc6492Signature } from "viem";
import { rail, type TestSandbox } from "../support/chains/chains.ts";
import type { Seller } from "../support/sellers/seller.ts";
import { sharedSeller } from "../support/sellers/shared-seller.ts";
import { encode } from "../support/sellers/signed.ts";
import { createSmartBuyer, type SmartBuyer } from "../support/sellers/smart-buyer.ts";
import { json, receiptOf } from "../support/sellers/stock-buyer.ts";
import { open03 } from "../surfaces/a2a/served/support/clients.ts";

const INPUT = { low: 1, high: 6 };
const FOREIGN = "0x00000000000000000000000000000000000F0E16";

describe("a stock buyer with a smart wallet", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  before(async () => {
    ({ sandbox, seller } = await sharedSeller());
  });

  const token = (id: "base" | "polygon") => sandbox.chains.tokens.get(id)!;
  const price = { base: 1000n, polygon: 10n ** 17n };
  const challengeOf = async (): Promise<PaymentRequired> =>
    (await (await fetch(`${seller.url}/v1/roll`, json(INPUT))).json()) as PaymentRequired;
  const roll = (payment: object): Promise<Response> => {
    const header = encode(payment);
    return fetch(`${seller.url}/v1/roll`, json(INPUT, { "payment-signature": header }));
  };
  const sign = async ({ client }: SmartBuyer): Promise<SignedPayment> =>
    (await client.createPaymentPayload(await challengeOf())) as unknown as SignedPayment;
  const treasuryNonce = async (): Promise<number> =>
    Number(await sandbox.polygon.rpc("eth_getTransactionCount", [sandbox.env.POLYGON_PAYMENT_ADDRESS, "latest"]));

  for (const id of ["base", "polygon"] as const)
    for (const stands of [true, false])
      describe(`on ${rail(id).title} that ${stands ? "stands (ERC-1271)" : "is not deployed yet (ERC-6492)"}`, () => {
        let buyer: SmartBuyer;
        let had: bigint;
        beforeEach(async () => {
          buyer = await createSmartBuyer(sandbox, id, stands ? "1" : "1.1");
          if (stands) await buyer.deploy();
          expect(await buyer.isDeployed()).to.equal(stands);
          had = await token(id).balanceOf(buyer.address);
        });
        /** One price has left the wallet, which stands now. */
        const expectOneTransfer = async (): Promise<void> => {
          expect(had - (await token(id).balanceOf(buyer.address))).to.equal(price[id]);
          expect(await buyer.isDeployed()).to.equal(true);
        };

        it("buys over HTTP, and again", async () => {
          const response = await buyer.pay(`${seller.url}/v1/roll`, json(INPUT));
          expect(response.status).to.equal(200);
          expect(receiptOf(response)).to.include({ success: true, network: rail(id).network, payer: buyer.address });
          await expectOneTransfer();
          expect((await buyer.pay(`${seller.url}/v1/roll`, json(INPUT))).status).to.equal(200);
        });

        it("gets the stored answer for the same payment, and pays once", async () => {
          const payment = await sign(buyer);
          const [first, second] = [await roll(payment), await roll(payment)];
          expect([first.status, second.status]).to.deep.equal([200, 200]);
          expect(await second.text()).to.equal(await first.text());
          expect(receiptOf(second).transaction).to.equal(receiptOf(first).transaction);
          await expectOneTransfer();
        });

        // Over MCP no yen are taken.
        if (id === "base")
          it("buys over MCP with the official client", async () => {
            const client = new Client({ name: "buyer", version: "1.0.0" });
            await client.connect(new StreamableHTTPClientTransport(new URL(`${seller.url}/mcp`)));
            const call = { name: "roll", arguments: INPUT };
            const { structuredContent } = await client.callTool(call);
            const payment = await buyer.client.createPaymentPayload(structuredContent as PaymentRequired);
            const answer = await client.callTool({ ...call, _meta: { "x402/payment": payment } });
            await client.close();
            expect(answer.isError ?? false, String(answer._meta?.["x402/error"])).to.equal(false);
            expect(answer._meta?.["x402/payment-response"]).to.include({ success: true, payer: buyer.address });
            await expectOneTransfer();
          });

        it("buys over A2A with the official client", async () => {
          const client = await open03(seller.url);
          const waiting = await client.begin("roll", INPUT);
          const required = waiting.status.message.metadata["x402.payment.required"];
          const paid = await client.pay(waiting, await buyer.client.createPaymentPayload(required));
          expect(client.state(paid), JSON.stringify(paid)).to.equal("completed");
          await expectOneTransfer();
        });
      });

  it("is told how to pay when its factory is not one of the seller's, and nothing is deployed or paid", async () => {
    const buyer = await createSmartBuyer(sandbox, "polygon");
    const payment = await sign(buyer);
    const { address: _, data: call, signature } = parseErc6492Signature(payment.payload.signature);
    payment.payload.signature = serializeErc6492Signature({ address: FOREIGN, data: call!, signature });
    const from = await treasuryNonce();
    const response = await roll(payment);
    expect(response.status).to.equal(402);
    expect(((await response.json()) as { error: string }).error).to.equal(
      `payment_rejected: eip6492_factory_not_allowed: Deploy the wallet first: its factory ${FOREIGN} is not allowed here`,
    );
    expect(await buyer.isDeployed()).to.equal(false);
    expect(await treasuryNonce()).to.equal(from);
  });

  it("has nothing deployed when it cannot pay", async () => {
    const buyer = await createSmartBuyer(sandbox, "polygon");
    const payment = await sign(buyer);
    await token("polygon").setBlacklisted(buyer.address, true);
    const from = await treasuryNonce();
    expect((await roll(payment)).status).to.equal(402);
    await token("polygon").setBlacklisted(buyer.address, false);
    expect([await buyer.isDeployed(), await treasuryNonce()]).to.deep.equal([false, from]);
  });

  it("cannot have another's wallet deployed with its own payment", async () => {
    const [buyer, other] = [await createSmartBuyer(sandbox, "polygon"), await createSmartBuyer(sandbox, "polygon")];
    const [payment, { payload }] = [await sign(buyer), await sign(other)];
    const { signature } = parseErc6492Signature(payment.payload.signature);
    const { address, data: call } = parseErc6492Signature(payload.signature);
    payment.payload.signature = serializeErc6492Signature({ address: address!, data: call!, signature });
    expect((await roll(payment)).status).to.equal(402);
    expect(await other.isDeployed()).to.equal(false);
  });

  it("that somebody else deploys meanwhile pays all the same", async () => {
    const buyer = await createSmartBuyer(sandbox, "polygon");
    const payment = await sign(buyer);
    await buyer.deploy();
    expect((await roll(payment)).status).to.equal(200);
  });

  describe("whose signatures still contain the deployment when it is over (ERC-6492)", () => {
    it("signs in, and sees what it has bought", async () => {
      const buyer = await createSmartBuyer(sandbox, "base");
      const wrap = await wrapperOf(buyer);
      expect((await buyer.pay(`${seller.url}/v1/roll`, json(INPUT))).status).to.equal(200);
      const { extensions = {} } = (await (await fetch(`${seller.url}/v1/purchases`)).json()) as PaymentRequired;
      const { info } = extensions["sign-in-with-x"] as { info: Info };
      const signed = await createSIWxPayload(
        { ...info, chainId: rail("base").network, type: "eip191" },
        {
          address: buyer.address,
          signMessage: async (text: { message: string }) => wrap(await buyer.account.signMessage(text)),
        },
        seller.url,
      );
      const headers = { "sign-in-with-x": encodeSIWxHeader(signed) };
      const answer = await fetch(`${seller.url}/v1/purchases`, { headers });
      expect(answer.status, await answer.clone().text()).to.equal(200);
      expect(await answer.json())
        .to.have.property("purchases")
        .with.length(1);
    });

    it("gets the answer of the purchase that it names again, with nothing left to pay", async () => {
      const buyer = await createSmartBuyer(sandbox, "base");
      const wrap = await wrapperOf(buyer);
      const name = generatePaymentId();
      const named = async (): Promise<SignedPayment> => {
        const required = await challengeOf();
        appendPaymentIdentifierToExtensions(required.extensions!, name);
        return (await buyer.client.createPaymentPayload(required)) as unknown as SignedPayment;
      };
      const first = await roll(await named());
      expect(first.status).to.equal(200);
      await token("base").setBlacklisted(buyer.address, true);
      const again = await named();
      again.payload.signature = wrap(again.payload.signature);
      const answer = await roll(again);
      await token("base").setBlacklisted(buyer.address, false);
      expect(await answer.json()).to.deep.equal(await first.json());
    });
  });

  it("with a signature longer than any wallet's is refused, not taken for an outage", async () => {
    const buyer = await createSmartBuyer(sandbox, "polygon");
    const client = await open03(seller.url);
    const waiting = await client.begin("roll", INPUT);
    const required = waiting.status.message.metadata["x402.payment.required"];
    const payment = (await buyer.client.createPaymentPayload(required)) as unknown as SignedPayment;
    const { address, data: call, signature } = parseErc6492Signature(payment.payload.signature);
    const data: Hex = `${call!}${"11".repeat(20_000)}`;
    payment.payload.signature = serializeErc6492Signature({ address: address!, data, signature });
    const answer = JSON.stringify(await client.pay(waiting, payment));
    expect(answer).to.include("payload.signature is not hex of at most 8192 characters");
    expect(await buyer.isDeployed()).to.equal(false);
  });

  for (const id of ["base", "polygon"] as const)
    it(`with a signature that only ends as ERC-6492 says is refused on ${id}, not taken for an outage`, async () => {
      const payment = await sign(await createSmartBuyer(sandbox, id));
      payment.payload.signature = `0x${"ff".repeat(64)}${payment.payload.signature.slice(-64)}`;
      const response = await roll(payment);
      expect(response.status).to.equal(402);
      expect(((await response.json()) as { error: string }).error).to.match(
        /^invalid_signature: \S+ The signature has the ending of ERC-6492 and not its beginning$/,
      );
    });
});

type Info = Parameters<typeof createSIWxPayload>[0];

/** Wraps signatures in the deployment of a wallet that is not deployed yet. */
async function wrapperOf({ account }: SmartBuyer): Promise<(signature: Hex) => Hex> {
  const { factory, factoryData } = await account.getFactoryArgs();
  return (signature) => serializeErc6492Signature({ address: factory!, data: factoryData!, signature });
}

interface SignedPayment {
  readonly accepted: PaymentRequirements;
  readonly payload: { signature: Hex };
}
