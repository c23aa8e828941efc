import { setTimeout as sleep } from "node:timers/promises";
import { ExactEvmScheme } from "@x402/evm/exact/client";
import { expect } from "chai";
import { toHex } from "viem";
import { generatePrivateKey, type PrivateKeyAccount, privateKeyToAccount } from "viem/accounts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import type { PaymentPayload, PaymentRequirements, SettleResponse } from "../../runtime/core/x402.ts";
import { createEvmClient } from "../../runtime/drivers/evm-client.ts";
import { createEvmSender, type EvmSender } from "../../runtime/drivers/evm-sender.ts";
import { createLocalFacilitator } from "../../runtime/drivers/facilitator-local.ts";
import { checkToken, type TokenFacts } from "../../runtime/drivers/facilitator-local-token.ts";
import { type EvmChain, startEvmChain } from "../../runtime/sandbox/evm-chain.ts";
import { placeToken, type Token } from "../../runtime/sandbox/tokens.ts";
import { rail } from "../support/chains.ts";
import { createMemoryStore } from "../support/memory-store.ts";
import { type RpcProxy, startRpcProxy } from "../support/rpc-proxy.ts";

const never = new AbortController().signal;
const GWEI = 10n ** 9n;
const ETHER = 10n ** 18n;
const seller = "0x5e11e40000000000000000000000000000005e11";
const polygon = rail("polygon");
const second = "0x431d5dff03120afa4bdf332c61a6e1766ef37bdb";
const { name, version } = polygon.domain!;
const jpycFacts: TokenFacts = { asset: polygon.asset, decimals: 18, name, version };
const thrown = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => error,
  );

describe("the in-process facilitator", () => {
  const treasury = privateKeyToAccount(generatePrivateKey());
  let chain: EvmChain;
  let proxy: RpcProxy;
  let jpyc: Token;
  let buyer: PrivateKeyAccount;
  let sender: EvmSender;
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);

  before(async () => {
    process.on("unhandledRejection", note);
    chain = await startEvmChain({ chainId: 137 });
    proxy = await startRpcProxy(chain.url);
    jpyc = await placeToken(chain, { ...jpycFacts, address: polygon.asset, symbol: polygon.symbol });
    await placeToken(chain, { ...jpycFacts, address: second, symbol: polygon.symbol });
    await chain.setBalance(treasury.address, 100n * ETHER);
  });
  after(async () => {
    process.off("unhandledRejection", note);
    await proxy.stop();
    await chain.stop();
  });
  beforeEach(async () => {
    buyer = privateKeyToAccount(generatePrivateKey());
    await jpyc.mint(buyer.address, 1000n * ETHER);
  });
  afterEach(async () => {
    proxy.intervene(() => "pass");
    await chain.rpc("anvil_dropAllTransactions", []);
    await chain.rpc("evm_setAutomine", [true]);
    sender.close();
    expect(unhandled).to.deep.equal([]);
  });

  const offer: PaymentRequirements = {
    ...{ scheme: "exact", network: "eip155:137", asset: polygon.asset, amount: String(ETHER), payTo: seller },
    ...{ maxTimeoutSeconds: 300, extra: { name, version } },
  };

  function open(store = createMemoryStore(), confirmationMs = 5000) {
    const client = createEvmClient({ url: proxy.url, chainId: 137, retries: 1, retryDelayMs: 5 });
    sender = createEvmSender({
      ...{
        client,
        treasury: { evmAccount: async () => treasury },
        store,
        feeCapWei: ETHER,
        clock: Date,
        log: silentLog,
      },
      ...{ pollMs: 25, rebroadcastMs: 100, stuckMs: 500 },
    });
    return createLocalFacilitator({
      ...{ network: "eip155:137", client, sender, treasury: { evmAddress: async () => treasury.address }, store },
      ...{ tokens: [jpycFacts, { ...jpycFacts, asset: second }], confirmationMs },
    });
  }

  async function pay(accepted = offer, from = buyer): Promise<PaymentPayload> {
    const requirements = accepted as Parameters<ExactEvmScheme["createPaymentPayload"]>[1];
    const { payload } = await new ExactEvmScheme(from).createPaymentPayload(2, requirements);
    return { x402Version: 2, accepted, payload };
  }

  const change = (payment: PaymentPayload, parts: object): PaymentPayload => ({
    ...payment,
    payload: { ...payment.payload, authorization: { ...(payment.payload.authorization as object), ...parts } },
  });

  it("supports the exact scheme on its network once its token is what the configuration says", async () => {
    expect(await open().supported(never)).to.deep.equal([{ x402Version: 2, scheme: "exact", network: "eip155:137" }]);
  });

  it("supports nothing while the treasury cannot pay for gas, and says so", async () => {
    await chain.setBalance(treasury.address, 1n);
    const refusal = await thrown(open().supported(never));
    expect(refusal).to.have.property("code", "unavailable");
    expect(refusal).to.have.property("message").that.contains(treasury.address).and.contains("gas");
    await chain.setBalance(treasury.address, 100n * ETHER);
    expect(await open().supported(never)).to.have.length(1);
  });

  it("verifies a payment and settles it once, for real", async () => {
    const facilitator = open();
    const payment = await pay();
    expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: true, payer: buyer.address });
    const before = await jpyc.balanceOf(seller);
    const receipt = await facilitator.settle(payment, offer, never);
    expect(receipt).to.include({ success: true, network: "eip155:137", payer: buyer.address });
    expect((await jpyc.balanceOf(seller)) - before).to.equal(ETHER);
    expect(await chain.rpc("eth_getTransactionReceipt", [receipt.transaction])).to.include({ status: "0x1" });
    expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: false });
  });

  it("refuses what is not paid, in words", async () => {
    const facilitator = open();
    const refusals: [PaymentPayload, string][] = [
      [change(await pay(), { value: String(2n * ETHER) }), "invalid_exact_evm_signature"],
      [await pay({ ...offer, amount: "5" }), "invalid_exact_evm_payload_authorization_value_mismatch"],
      [await pay({ ...offer, payTo: buyer.address }), "invalid_exact_evm_recipient_mismatch"],
      [await pay({ ...offer, maxTimeoutSeconds: 1 }), "invalid_exact_evm_payload_authorization_valid_before"],
      [await pay(offer, privateKeyToAccount(generatePrivateKey())), "invalid_exact_evm_insufficient_balance"],
    ];
    for (const [payment, reason] of refusals) {
      expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: false, invalidReason: reason });
      expect(await facilitator.settle(payment, offer, never)).to.include({ success: false, transaction: "" });
    }
  });

  it("passes the token's own words on, and nothing of the libraries around them", async () => {
    const facilitator = open();
    const payment = await pay();
    await jpyc.setPaused(true);
    const [verdict, receipt] = [
      await facilitator.verify(payment, offer, never),
      await facilitator.settle(payment, offer, never),
    ];
    await jpyc.setPaused(false);
    for (const message of [verdict.invalidMessage, receipt.errorMessage])
      expect(message)
        .to.include("Pausable: paused")
        .and.not.match(/viem|\n/);
    expect(receipt).to.include({ success: false, transaction: "" });
  });

  it("refuses garbage without asking the chain", async () => {
    const facilitator = open();
    const payment = await pay();
    const garbage: PaymentPayload[] = [
      { ...payment, payload: {} },
      { ...payment, payload: { permit2Authorization: {}, signature: "0x12" } },
      change(payment, { value: "-1" }),
      change(payment, { nonce: "0x12" }),
      change(payment, { from: 5 }),
    ];
    const from = proxy.calls.length;
    for (const bad of garbage)
      expect(await facilitator.verify(bad, offer, never)).to.include({
        isValid: false,
        invalidReason: "invalid_payload",
      });
    const elsewhere = { ...offer, asset: seller };
    expect(await facilitator.verify(payment, elsewhere, never)).to.include({ isValid: false });
    expect(proxy.calls.slice(from)).to.deep.equal([]);
  });

  it("reads nothing of a payment but its authorization, so that no other scheme slips in beside it", async () => {
    const payment = await pay();
    const smuggled = { ...payment, payload: { ...payment.payload, permit2Authorization: { from: buyer.address } } };
    expect(await open().verify(smuggled, offer, never)).to.include({ isValid: true });
  });

  it("settles 30 at once, every one", async () => {
    const facilitator = open();
    const payments = await Promise.all(Array.from({ length: 30 }, () => pay()));
    const before = await jpyc.balanceOf(seller);
    const receipts = await Promise.all(payments.map((payment) => facilitator.settle(payment, offer, never)));
    expect(receipts.filter(({ success }) => success)).to.have.length(30);
    expect((await jpyc.balanceOf(seller)) - before).to.equal(30n * ETHER);
  });

  it("settles the good ones although one in the middle is refused by the token", async () => {
    const facilitator = open();
    const poor = privateKeyToAccount(generatePrivateKey());
    const payments = await Promise.all(Array.from({ length: 9 }, (_, index) => pay(offer, index === 4 ? poor : buyer)));
    const receipts = await Promise.all(payments.map((payment) => facilitator.settle(payment, offer, never)));
    expect(receipts.map(({ success }) => success)).to.deep.equal(payments.map((_, index) => index !== 4));
    expect(receipts[4]).to.include({ errorReason: "invalid_exact_evm_insufficient_balance", transaction: "" });
  });

  for (const method of ["eth_call", "eth_getCode"]) {
    it(`calls an outage of ${method} an outage, never an invalid signature`, async () => {
      const facilitator = open();
      const payment = await pay();
      proxy.intervene((asked) => (asked === method ? "lose" : "pass"));
      const error = await thrown(facilitator.verify(payment, offer, never));
      expect(error).to.include({ code: "facilitator-unavailable" });
      proxy.intervene(() => "pass");
      expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: true });
    });
  }

  for (const method of ["eth_getCode", "eth_estimateGas", "eth_getTransactionCount"])
    it(`calls a settlement unknown when ${method} is not answered`, async () => {
      const facilitator = open();
      const payment = await pay();
      await facilitator.verify(payment, offer, never);
      proxy.intervene((asked) => (asked === method ? "lose" : "pass"));
      expect(await thrown(facilitator.settle(payment, offer, never))).to.include({ code: "settlement-unknown" });
    });

  it("keeps the hash of what is not confirmed in time, and resolves it when asked again", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    const store = createMemoryStore();
    const payment = await pay();
    const pending = await open(store, 200).settle(payment, offer, never);
    expect(pending).to.include({ success: false, errorReason: "settlement_pending" });
    expect(pending.transaction).to.match(/^0x[0-9a-f]{64}$/);
    sender.close();
    await chain.rpc("evm_setAutomine", [true]);
    await chain.rpc("evm_mine", []);
    expect(await open(store).settle(payment, offer, never)).to.include({
      success: true,
      transaction: pending.transaction,
    });
  });

  it("names the transaction that is in the chain when its fee had to be raised", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    const store = createMemoryStore();
    const settling = open(store, 15_000).settle(await pay(), offer, never);
    let receipt: SettleResponse | undefined;
    void settling.then((settled) => {
      receipt = settled;
    });
    while (!receipt) {
      await sleep(50);
      await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(50n * GWEI)]);
      await chain.rpc("evm_mine", []);
    }
    const [first] = [...store.entries].filter(([key]) => key.endsWith(":0")).map(([, value]) => JSON.stringify(value));
    expect(receipt).to.include({ success: true });
    expect(first, "the first form").not.to.include(receipt.transaction);
    expect(await chain.rpc("eth_getTransactionReceipt", [receipt.transaction])).to.include({ status: "0x1" });
    await chain.rpc("anvil_setNextBlockBaseFeePerGas", [toHex(GWEI)]);
    await chain.rpc("evm_mine", []);
  });

  it("settles once when the node takes the transaction and its answer is lost", async () => {
    let lost = 0;
    proxy.intervene((method) => (method === "eth_sendRawTransaction" && lost++ === 0 ? "lose-answer" : "pass"));
    const before = await jpyc.balanceOf(seller);
    expect(await open().settle(await pay(), offer, never)).to.include({ success: true });
    expect((await jpyc.balanceOf(seller)) - before).to.equal(ETHER);
  });

  it("refuses a payer's contract that burns the treasury's gas", async () => {
    const wallet = "0x00000000000000000000000000000000000a11e7";
    // Loops 60 000 times, then answers ERC-1271's "yes".
    const code = `0x61ea605b6001900380600357507f1626ba7e${"00".repeat(28)}60005260206000f3`;
    await chain.rpc("anvil_setCode", [wallet, code]);
    await jpyc.mint(wallet, ETHER);
    const payment = change(await pay(), { from: wallet });
    const payload = { ...payment.payload, signature: `0x${"12".repeat(66)}` };
    const smart = { ...payment, payload };
    expect(await open().verify(smart, offer, never)).to.include({ isValid: true, payer: wallet });
    expect(await open().settle(smart, offer, never)).to.include({ success: false, transaction: "" });
    expect(await jpyc.balanceOf(wallet)).to.equal(ETHER);
  });

  it("does not call a payment refused that an earlier attempt has settled", async () => {
    const payment = await pay();
    await open().settle(payment, offer, never);
    sender.close();
    expect(await thrown(open().settle(payment, offer, never))).to.include({ code: "settlement-unknown" });
  });

  it("calls it unknown, not refused, when the treasury cannot pay for the gas", async () => {
    await chain.setBalance(treasury.address, 0n);
    const error = await thrown(open().settle(await pay(), offer, never));
    await chain.setBalance(treasury.address, 100n * ETHER);
    expect(error).to.include({ code: "settlement-unknown" });
  });

  it("survives the death of its node without an unhandled rejection", async () => {
    const facilitator = open();
    const fresh = { ...offer, asset: second }; // The SDK remembers for a while which tokens are contracts.
    const payment = await pay(fresh);
    await facilitator.supported(never);
    proxy.intervene(() => "lose");
    expect(await thrown(facilitator.verify(payment, fresh, never))).to.include({ code: "facilitator-unavailable" });
    expect(await thrown(facilitator.settle(payment, fresh, never))).to.include({ code: "settlement-unknown" });
    await sleep(100);
  });

  describe("checks its token", () => {
    const check = (facts: Partial<TokenFacts>) =>
      checkToken(createEvmClient({ url: proxy.url, chainId: 137, retries: 0 }), { ...jpycFacts, ...facts });
    const where = `The token ${polygon.asset} on Polygon`;

    it("and finds nothing wrong with the configured one", async () => {
      expect(await check({})).to.equal(undefined);
    });

    const mismatches: [Partial<TokenFacts>, string][] = [
      [{ name: "JPYC" }, `${where} is named "JPY Coin", but the configuration says "JPYC"`],
      [{ decimals: 6 }, `${where} has 18 decimals, but the configuration says 6`],
      [
        { version: "2" },
        `${where} does not sign for the EIP-712 domain "JPY Coin", version "2", on chain 137; check its version`,
      ],
      [
        { asset: seller },
        `The token ${seller} on Polygon does not answer as a token with EIP-712 signatures does; check its address`,
      ],
    ];
    for (const [facts, sentence] of mismatches)
      it(`and says so when its ${Object.keys(facts)} differs`, async () => {
        expect(await check(facts)).to.equal(sentence);
        const client = createEvmClient({ url: proxy.url, chainId: 137 });
        const tokens = [{ ...jpycFacts, ...facts }];
        const facilitator = createLocalFacilitator({
          ...{ network: "eip155:137", client, sender, treasury: { evmAddress: async () => treasury.address } },
          ...{ store: createMemoryStore(), tokens },
        });
        expect(await thrown(facilitator.supported(never))).to.include({
          code: "facilitator-unavailable",
          message: sentence,
        });
      });

    it("and does not judge it while the chain cannot be asked", async () => {
      proxy.intervene((method) => (method === "eth_call" ? "lose" : "pass"));
      expect(await thrown(check({}))).to.include({ code: "upstream-failed" });
    });
  });
});
