import { createKeyPairSignerFromBytes } from "@solana/kit";
import { Connection, Keypair, VersionedTransaction } from "@solana/web3.js";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import type { PaymentPayload, PaymentRequirements } from "../../runtime/core/x402/x402.ts";
import { createSolanaClient } from "../../runtime/drivers/solana/client.ts";
import { createSolanaSettlements } from "../../runtime/drivers/solana/settlements.ts";
import { type SvmChain, startSvmChain } from "../../runtime/sandbox/svm/chain.ts";
import { rail } from "../support/chains/chains.ts";

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
