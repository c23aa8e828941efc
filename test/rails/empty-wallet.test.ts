import { createKeyPairSignerFromBytes } from "@solana/kit";
import { Keypair } from "@solana/web3.js";
import { x402Client } from "@x402/core/client";
import { encodePaymentSignatureHeader } from "@x402/core/http";
import type { PaymentRequired } from "@x402/core/types";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { appendPaymentIdentifierToExtensions, generatePaymentId } from "@x402/extensions/payment-identifier";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { rail, type TestSandbox } from "../support/chains/chains.ts";
import { createSmartWallet } from "../support/chains/smart-wallet.ts";
import type { Seller } from "../support/sellers/seller.ts";
import { sharedSeller } from "../support/sellers/shared-seller.ts";
import { toSigner } from "../support/sellers/smart-buyer.ts";
import { json, receiptOf } from "../support/sellers/stock-buyer.ts";

const ROLL = { low: 1, high: 6 };

type Kind = "key" | "contract";

describe("a stock buyer whose wallet held one price", () => {
  let sandbox: TestSandbox;
  let seller: Seller;
  before(async () => {
    ({ sandbox, seller } = await sharedSeller());
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

  /** A key on Solana with one price and nothing else. */
  async function openSolanaWallet(): Promise<x402Client> {
    const network = rail("solana").network as `solana:${string}`;
    const key = Keypair.generate();
    sandbox.solana.putTokenAccount(key.publicKey.toBase58(), 1000n);
    const signer = await createKeyPairSignerFromBytes(key.secretKey);
    return new x402Client()
      .register(network, new ExactSvmScheme(signer, { rpcUrl: sandbox.solana.url }))
      .registerPolicy((_version, offers) => offers.filter((offer) => offer.network === network));
  }

  async function sign(client: x402Client, name: string): Promise<string> {
    const required = (await (await fetch(`${seller.url}/v1/roll`, json(ROLL))).json()) as PaymentRequired;
    appendPaymentIdentifierToExtensions(required.extensions!, name);
    return encodePaymentSignatureHeader(await client.createPaymentPayload(required));
  }

  const send = (payment: string): Promise<Response> =>
    fetch(`${seller.url}/v1/roll`, json(ROLL, { "payment-signature": payment }));

  const buy = async (client: x402Client, name: string): Promise<Response> => send(await sign(client, name));

  async function expectAnswerAgain(client: x402Client): Promise<void> {
    const name = generatePaymentId();
    const first = await buy(client, name);
    expect(first.status, await first.clone().text()).to.equal(200);
    const again = await buy(client, name);
    expect(again.status, await again.clone().text()).to.equal(200);
    expect(await again.text()).to.equal(await first.text());
    expect(receiptOf(again)).to.deep.equal(receiptOf(first));
    expect((await buy(client, generatePaymentId())).status, "nothing new").to.equal(402);
  }

  for (const id of ["base", "polygon"] as const)
    for (const kind of ["key", "contract"] as const)
      it(`fetches its answer again with the wallet of a ${kind} on ${rail(id).title}`, async () => {
        await expectAnswerAgain(await openWallet(id, kind));
      });

  it("fetches its answer again on Solana, with a transaction that could still be settled", async () => {
    const client = await openSolanaWallet();
    await expectAnswerAgain(client);
    const other = await openSolanaWallet();
    const name = generatePaymentId();
    expect((await buy(other, name)).status).to.equal(200);
    const old = await sign(other, name);
    sandbox.solana.expireBlockhash();
    expect((await send(old)).status, "an old one may be a copy").to.equal(402);
    expect((await buy(other, name)).status).to.equal(200);
    expect((await buy(client, name)).status, "another wallet").to.equal(402);
  });
});
