import { createKeyPairSignerFromBytes } from "@solana/kit";
import { Connection, Keypair, VersionedTransaction } from "@solana/web3.js";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import type { PaymentPayload, PaymentRequirements } from "../../runtime/core/x402/x402.ts";
import { createSolanaClient } from "../../runtime/drivers/solana/client.ts";
import { createSolanaSettlements } from "../../runtime/drivers/solana/settlements.ts";
import { type SvmChain, startSvmChain } from "../../runtime/sandbox/svm/chain.ts";
import { recordCounts } from "../support/books/recorded-counts.ts";
import { rail } from "../support/chains/chains.ts";
import { claims, createScriptedRail } from "../support/chains/scripted-rail.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { encode } from "../support/sellers/signed.ts";
import { createTestClock } from "../support/test-clock.ts";

describe("a payment on Solana, read by a machine whose clock is wrong", () => {
  const { asset, decimals } = rail("solana");
  const [seller, feePayer, buyer] = [Keypair.generate(), Keypair.generate(), Keypair.generate()];
  let chain: SvmChain;
  before(async () => {
    chain = await startSvmChain();
    chain.putMint(asset, decimals);
    chain.putTokenAccount(seller.publicKey.toBase58(), 0n);
    chain.putTokenAccount(buyer.publicKey.toBase58(), 1_000_000n);
    chain.airdrop(feePayer.publicKey.toBase58(), 10n ** 9n);
  });
  after(() => chain.stop());

  for (const minutes of [-24 * 60, -60, 60, 9 * 60, 24 * 60])
    it(`is never called dead when it has landed (${minutes} minutes)`, async () => {
      const offer: PaymentRequirements = {
        scheme: "exact",
        network: chain.network,
        asset,
        amount: "1000",
        payTo: seller.publicKey.toBase58(),
        maxTimeoutSeconds: 300,
        extra: { feePayer: feePayer.publicKey.toBase58() },
      };
      const signer = await createKeyPairSignerFromBytes(buyer.secretKey);
      const requirements = offer as Parameters<ExactSvmScheme["createPaymentPayload"]>[1];
      const { payload } = await new ExactSvmScheme(signer, { rpcUrl: chain.url }).createPaymentPayload(2, requirements);
      const payment: PaymentPayload = { x402Version: 2, accepted: offer, payload };
      const clock = { now: () => Date.now() + minutes * 60_000 };
      const client = createSolanaClient({ url: chain.url, network: chain.network, retries: 0 });
      const { find } = createSolanaSettlements({ client, clock, graceMs: 0 });
      const never = new AbortController().signal;
      expect(await find(payment, offer, never)).to.deep.equal({ state: "open" });
      const transaction = VersionedTransaction.deserialize(Buffer.from(String(payload.transaction), "base64"));
      transaction.sign([feePayer]);
      const node = new Connection(chain.url, "confirmed");
      const signature = await node.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
      chain.expireBlockhash();
      expect(await find(payment, offer, never)).to.deep.equal({ state: "settled", transaction: signature });
    });
});

describe("a payment on Solana of some days ago, which a facilitator calls valid and settled again", () => {
  const HOUR = 60 * 60_000;
  const { asset, decimals } = rail("solana");
  const [feePayer, buyer] = [Keypair.generate(), Keypair.generate()];
  const clock = createTestClock();
  let chain: SvmChain;
  let shop: Shop;
  beforeEach(async () => {
    chain = await startSvmChain({ clock });
    chain.putMint(asset, decimals);
    chain.putTokenAccount(buyer.publicKey.toBase58(), 2_000_000n);
    chain.airdrop(feePayer.publicKey.toBase58(), 10n ** 9n);
    const client = createSolanaClient({ url: chain.url, network: chain.network, retries: 0 });
    const scripted = createScriptedRail({ id: "solana", network: chain.network, asset, decimals });
    scripted.script.extra = { feePayer: feePayer.publicKey.toBase58() };
    const payTo = Keypair.generate().publicKey.toBase58();
    chain.putTokenAccount(payTo, 0n);
    const settlements = createSolanaSettlements({ client, clock, graceMs: 0 });
    const patience = { confirmMs: 100, confirmAfterMs: 10 };
    const { counters } = recordCounts();
    const screen = (): never => {
      throw new Error("This service fails");
    };
    shop = await openShop({ rail: { ...scripted, payTo, settlements }, clock, price: "1", patience, screen, counters });
  });
  afterEach(async () => {
    await shop.close();
    await chain.stop();
  });

  async function sign(
    path = "/v1/roll",
  ): Promise<{ readonly header: string; readonly transaction: VersionedTransaction }> {
    const { accepts } = (await (await shop.post(path, {})).json()) as { accepts: [PaymentRequirements] };
    const signer = await createKeyPairSignerFromBytes(buyer.secretKey);
    const requirements = accepts[0] as Parameters<ExactSvmScheme["createPaymentPayload"]>[1];
    const { payload } = await new ExactSvmScheme(signer, { rpcUrl: chain.url }).createPaymentPayload(2, requirements);
    const transaction = VersionedTransaction.deserialize(Buffer.from(String(payload.transaction), "base64"));
    return { header: encode({ x402Version: 2, accepted: accepts[0], payload }), transaction };
  }

  for (const hours of [30, 60, 29 * 24])
    it(`buys nothing again (${hours} hours)`, async () => {
      const { header, transaction } = await sign();
      transaction.sign([feePayer]);
      const node = new Connection(chain.url, "confirmed");
      const signature = await node.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
      shop.rail.script.settle = claims(signature);
      const send = (): Promise<Response> => shop.post("/v1/roll", ROLL, { "payment-signature": header });
      expect((await send()).status).to.equal(200);
      clock.advance(hours * HOUR);
      const again = await send();
      expect(again.status, await again.text()).to.be.oneOf([402, 503]);
    });

  /** Buys work of a minute, whose settlement is refused for a reason. @returns what the buyer is told */
  async function refusalOf(errorReason: string): Promise<string> {
    shop.handler = () => {
      clock.advance(60_000);
      return { value: 1 };
    };
    shop.rail.script.settle = (_, { network }) => ({ success: false, errorReason, transaction: "", network });
    const refused = await shop.post("/v1/roll", ROLL, { "payment-signature": (await sign()).header });
    expect(refused.status).to.equal(402);
    return ((await refused.json()) as { readonly error: string }).error;
  }

  it("is refused when the work took longer than it lives, with words that say so, and others of its payer are taken as before", async () => {
    const buy = async (path: string, input: object): Promise<number> =>
      (await shop.post(path, input, { "payment-signature": (await sign(path)).header })).status;
    expect(await refusalOf("invalid_exact_svm_transaction_simulation_failed")).to.match(
      /^payment_rejected: it may have run out amid the work; sign a new one: invalid_exact_svm/,
    );
    expect(shop.rail.asked.settle).to.equal(1);
    expect([await buy("/v1/screen", { wallet: "w" }), shop.rail.asked.settle], "done first").to.deep.equal([500, 1]);
    expect([await buy("/v1/roll", ROLL), shop.rail.asked.settle], "settled first").to.deep.equal([402, 2]);
    expect(shop.executions).to.equal(1);
  });

  it("is refused for what the facilitator says after long work, where that is clear", async () => {
    expect(await refusalOf("insufficient_funds")).to.equal("insufficient_funds");
  });
});
