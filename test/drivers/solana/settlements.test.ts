import { createKeyPairSignerFromBytes } from "@solana/kit";
import { Connection, Keypair, VersionedTransaction } from "@solana/web3.js";
import { ExactSvmScheme } from "@x402/svm/exact/client";
import { expect } from "chai";
import type { PaymentPayload, PaymentRequirements } from "../../../runtime/core/x402/x402.ts";
import { createSolanaClient } from "../../../runtime/drivers/solana/client.ts";
import { createSolanaSettlements } from "../../../runtime/drivers/solana/settlements.ts";
import { createSolanaTransfers } from "../../../runtime/drivers/solana/transfers.ts";
import { type SvmChain, startSvmChain } from "../../../runtime/sandbox/svm/chain.ts";
import { rail } from "../../support/chains/chains.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { thrown } from "../../support/thrown.ts";

const never = new AbortController().signal;

describe("the settlements on Solana", () => {
  const { asset, decimals } = rail("solana");
  const [seller, feePayer] = [Keypair.generate(), Keypair.generate()];
  let buyer: Keypair;
  let chain: SvmChain;
  let proxy: RpcProxy;
  let node: Connection;
  let now: number;

  before(async () => {
    chain = await startSvmChain();
    proxy = await startRpcProxy(chain.url);
    node = new Connection(chain.url, "confirmed");
    chain.putMint(asset, decimals);
    chain.putTokenAccount(seller.publicKey.toBase58(), 0n);
    chain.airdrop(feePayer.publicKey.toBase58(), 10n ** 9n);
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(() => {
    now = Date.now();
    buyer = Keypair.generate();
    chain.putTokenAccount(buyer.publicKey.toBase58(), 1_000_000n);
  });
  afterEach(() => proxy.intervene(() => "pass"));

  const offer = (amount = "1000", payTo = seller): PaymentRequirements => ({
    scheme: "exact",
    network: chain.network,
    asset,
    amount,
    payTo: payTo.publicKey.toBase58(),
    maxTimeoutSeconds: 300,
    extra: { feePayer: feePayer.publicKey.toBase58() },
  });

  async function pay(accepted = offer()): Promise<PaymentPayload> {
    const signer = await createKeyPairSignerFromBytes(buyer.secretKey);
    const requirements = accepted as Parameters<ExactSvmScheme["createPaymentPayload"]>[1];
    const { payload } = await new ExactSvmScheme(signer, { rpcUrl: chain.url }).createPaymentPayload(2, requirements);
    return { x402Version: 2, accepted, payload };
  }

  const toTransaction = ({ payload }: PaymentPayload): VersionedTransaction =>
    VersionedTransaction.deserialize(Buffer.from(payload.transaction as string, "base64"));

  /** What a facilitator does: signs as the fee's payer, and broadcasts. */
  async function settle(payment: PaymentPayload): Promise<string> {
    const transaction = toTransaction(payment);
    transaction.sign([feePayer]);
    return node.sendRawTransaction(transaction.serialize(), { skipPreflight: true });
  }

  function open(options: { readonly graceMs?: number } = { graceMs: 0 }) {
    const client = createSolanaClient({ url: proxy.url, network: chain.network, retries: 0 });
    const reader = createSolanaSettlements({ client, clock: { now: () => now }, ...options });
    return (payment: PaymentPayload, accepted = payment.accepted) => reader.find(payment, accepted, never);
  }

  const answer = (result: unknown) => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: "1", result }) });

  it("are open while the transaction can still land", async () => {
    expect(await open()(await pay())).to.deep.equal({ state: "open" });
  });

  it("are found by the message alone, among the payer's other transactions, also after its time", async () => {
    const payments = [await pay(), await pay(), await pay()];
    const signatures: string[] = [];
    for (const payment of payments) signatures.push(await settle(payment));
    expect(await open()(payments[1]!)).to.deep.equal({ state: "settled", transaction: signatures[1] });
    chain.expireBlockhash();
    expect(await open()(payments[1]!)).to.deep.equal({ state: "settled", transaction: signatures[1] });
  });

  it("are dead when the blockhash has expired and nothing landed", async () => {
    const payment = await pay();
    await settle(await pay());
    chain.expireBlockhash();
    expect(await open()(payment)).to.deep.equal({ state: "dead" });
  });

  it("are not dead on a node that has stayed behind: it knows neither the blockhash nor what has landed", async () => {
    const find = open({});
    const payment = await pay();
    const transaction = await settle(payment);
    const [slot, old] = [(await node.getSlot()) - 150, Math.floor(now / 1000) - 60];
    const context = { slot };
    const ofOld: Record<string, unknown> = {
      isBlockhashValid: { context, value: false },
      getSignaturesForAddress: [],
      getBlockTime: old,
    };
    proxy.intervene((method) => (method in ofOld ? answer(ofOld[method]) : "pass"));
    expect(await find(payment)).to.deep.equal({ state: "open" });
    now += 121_000;
    expect(await find(payment)).to.deep.equal({ state: "open" });
    proxy.intervene(() => "pass");
    expect(await find(payment)).to.deep.equal({ state: "settled", transaction });
  });

  it("are not dead on a node that lists a minute late what has landed, though its blockhash has expired", async () => {
    const find = open({});
    const payment = await pay();
    const transaction = await settle(payment);
    chain.expireBlockhash();
    proxy.intervene((method) => (method === "getSignaturesForAddress" ? answer([]) : "pass"));
    expect(await find(payment)).to.deep.equal({ state: "open" });
    now += 60_000;
    expect(await find(payment)).to.deep.equal({ state: "open" });
    proxy.intervene(() => "pass");
    expect(await find(payment)).to.deep.equal({ state: "settled", transaction });
  });

  it("are found where the node does not tell the time of a block, and not called dead", async () => {
    const find = open();
    const payment = await pay();
    chain.expireBlockhash();
    proxy.intervene((method) => (method === "getBlockTime" ? "lose" : "pass"));
    expect(await find(payment)).to.deep.equal({ state: "open" });
    const landed = await pay();
    const transaction = await settle(landed);
    chain.expireBlockhash();
    expect(await open()(landed)).to.deep.equal({ state: "settled", transaction });
  });

  it("are dead when the transaction paid less, or somebody else", async () => {
    const other = Keypair.generate();
    chain.putTokenAccount(other.publicKey.toBase58(), 0n);
    for (const accepted of [offer("999"), offer("1000", other)]) {
      const payment = await pay(accepted);
      await settle(payment);
      expect(await open()(payment, offer())).to.deep.equal({ state: "dead" });
    }
  });

  it("are settled when the seller has paid itself: its balance does not change by it", async () => {
    buyer = seller;
    chain.putTokenAccount(seller.publicKey.toBase58(), 5000n);
    const payment = await pay();
    const transaction = await settle(payment);
    expect(await open()(payment)).to.deep.equal({ state: "settled", transaction });
    expect(await open()(payment, offer("1001"))).to.deep.equal({ state: "dead" });
    const span = { from: 0, to: Date.now() + 60_000 };
    const client = createSolanaClient({ url: proxy.url, network: chain.network, retries: 0 });
    const address = seller.publicKey.toBase58();
    const transfers = await createSolanaTransfers({ client, mint: asset }).read([address], span);
    const [own] = transfers.filter((transfer) => transfer.transaction === transaction);
    expect(own).to.include({ from: address, to: address, amount: 1000n });
  });

  it("are looked for only among transactions with the payment's own memo, where the node tells the memos", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    await settle(await pay());
    const listed = await node.getSignaturesForAddress(buyer.publicKey);
    const { compiledInstructions } = toTransaction(payment).message;
    const own = Buffer.from(compiledInstructions.at(-1)!.data).toString("utf8");
    const result = listed.map((entry) => ({
      ...entry,
      memo: entry.signature === transaction ? `[32] ${own}` : "[5] other",
    }));
    const body = JSON.stringify({ jsonrpc: "2.0", id: "1", result });
    proxy.intervene((method) => (method === "getSignaturesForAddress" ? { status: 200, body } : "pass"));
    const from = proxy.calls.length;
    expect(await open()(payment)).to.deep.equal({ state: "settled", transaction });
    expect(proxy.calls.slice(from).filter((method) => method === "getTransaction")).to.have.length(1);
  });

  it("are found among transactions of a newer version, which the node does not show", async () => {
    const payment = await pay();
    const transaction = await settle(payment);
    const newer = await settle(await pay());
    const error = { code: -32015, message: "Transaction version (1) is not supported by the requesting client" };
    const refusal = { status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: "1", error }) };
    const isAsked = (): boolean => (proxy.params.at(-1) as [string])[0] === newer;
    proxy.intervene((method) => (method === "getTransaction" && isAsked() ? refusal : "pass"));
    expect(await open()(payment)).to.deep.equal({ state: "settled", transaction });
    const unsettled = await pay();
    chain.expireBlockhash();
    expect(await open()(unsettled)).to.deep.equal({ state: "dead" });
  });

  it("can be asked for while the node answers", async () => {
    const client = createSolanaClient({ url: proxy.url, network: chain.network, retries: 0 });
    const { ping } = createSolanaSettlements({ client, clock: { now: () => now } });
    await ping(never);
    proxy.intervene(() => "lose");
    expect(await thrown(ping(never))).to.include({ code: "upstream-failed" });
  });

  it("are not known when the chain cannot be read", async () => {
    const payment = await pay();
    await settle(payment);
    for (const lost of ["isBlockhashValid", "getSignaturesForAddress", "getTransaction"]) {
      proxy.intervene((method) => (method === lost ? "lose" : "pass"));
      expect(await thrown(open()(payment)), lost).to.include({ code: "upstream-failed" });
    }
  });
});
