import { createKeyPairSignerFromBytes } from "@solana/kit";
import { Keypair, VersionedTransaction } from "@solana/web3.js";
import { x402Client } from "@x402/core/client";
import type { PaymentPayload } from "@x402/core/types";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import { rail, type TestSandbox } from "../support/chains/chains.ts";
import type { Seller } from "../support/sellers/seller.ts";
import { sharedSeller } from "../support/sellers/shared-seller.ts";
import { json, signFor } from "../support/sellers/stock-buyer.ts";

const ROLL = { low: 1, high: 6 };

describe("a stock buyer on Solana whose payment cannot be settled", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  before(async () => {
    ({ sandbox, seller } = await sharedSeller());
  });

  /** Signs with a new wallet, and sends what it has signed when `meanwhile` has happened. */
  async function buy(held: bigint, meanwhile = (): void => {}, change = (_: VersionedTransaction): void => {}) {
    const wallet = Keypair.generate();
    sandbox.solana.putTokenAccount(wallet.publicKey.toBase58(), held);
    const { network } = rail("solana");
    const scheme = new ExactSvmScheme(await createKeyPairSignerFromBytes(wallet.secretKey), {
      rpcUrl: sandbox.solana.url,
    });
    const client = new x402Client()
      .register(network as `solana:${string}`, scheme)
      .registerPolicy((_version, offers) => offers.filter((offer) => offer.network === network));
    const changed = (payment: PaymentPayload): PaymentPayload => {
      const signed = VersionedTransaction.deserialize(Buffer.from(String(payment.payload.transaction), "base64"));
      change(signed);
      signed.sign([wallet]);
      return { ...payment, payload: { transaction: Buffer.from(signed.serialize()).toString("base64") } };
    };
    const payment = await signFor(client, await fetch(`${seller.url}/v1/roll`, json(ROLL)), changed);
    meanwhile();
    const response = await fetch(`${seller.url}/v1/roll`, json(ROLL, payment));
    expect(response.status).to.equal(402);
    return ((await response.json()) as { error: string }).error;
  }

  it("is told that the wallet has too little", async () => {
    expect(await buy(999n)).to.match(/^insufficient_funds: /);
  });

  it("is told that the transaction is too old", async () => {
    expect(await buy(1000n, () => sandbox.solana.expireBlockhash())).to.match(/^payment_expired: /);
  });

  it("is told that the transaction is none where it pays from an account that it does not hold", async () => {
    const lose = ({ message }: VersionedTransaction): void => {
      message.compiledInstructions[2]!.accountKeyIndexes[0] = 99;
      message.compiledInstructions[2]!.accountKeyIndexes[1] = 99;
    };
    expect(await buy(1000n, () => {}, lose)).to.match(/^invalid_payload: payload\.transaction is not a whole Solana/);
  });
});
