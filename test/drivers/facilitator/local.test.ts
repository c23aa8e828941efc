import { expect } from "chai";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { authorizationId, type Eip3009 } from "../../../runtime/core/x402/eip3009.ts";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { eventually } from "../../support/eventually.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { thrown } from "../../support/thrown.ts";
import { change, ETHER, never, offer, seller, stageFacilitator, treasury } from "./stage.ts";

describe("the in-process facilitator", () => {
  const stage = stageFacilitator();
  const { open, pay } = stage;

  it("supports the exact scheme on its network once its token is what the configuration says", async () => {
    expect(await open().supported(never)).to.deep.equal([{ x402Version: 2, scheme: "exact", network: "eip155:137" }]);
  });

  it("supports nothing while the treasury cannot pay for gas, and says so", async () => {
    const price = BigInt(String(await stage.chain.rpc("eth_gasPrice", [])));
    await stage.chain.setBalance(treasury.address, price * 100_000n); // A settlement may take half as much again.
    const refusal = await thrown(open().supported(never));
    expect(refusal).to.have.property("code", "unavailable");
    expect(refusal).to.have.property("message").that.contains(treasury.address).and.contains("gas");
    await stage.chain.setBalance(treasury.address, 100n * ETHER);
    expect(await open().supported(never)).to.have.length(1);
  });

  it("has its rail asked about again once a payment shows that the treasury cannot pay for gas", async () => {
    const facilitator = open();
    let told = 0;
    facilitator.watch?.(() => {
      told += 1;
    });
    const verify = async (): Promise<unknown> => thrown(facilitator.verify(await pay(), offer, never));
    expect(await verify()).to.include({ isValid: true });
    await stage.chain.setBalance(treasury.address, 1n);
    for (const _ of [1, 2]) expect(await verify()).to.include({ code: "facilitator-unavailable" });
    expect(told).to.equal(1);
    await stage.chain.setBalance(treasury.address, 100n * ETHER);
    expect(await verify()).to.include({ isValid: true });
  });

  it("verifies a payment and settles it once, for real", async () => {
    const facilitator = open();
    const payment = await pay();
    expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: true, payer: stage.buyer.address });
    const before = await stage.jpyc.balanceOf(seller);
    const receipt = await facilitator.settle(payment, offer, never);
    expect(receipt).to.include({ success: true, network: "eip155:137", payer: stage.buyer.address });
    expect((await stage.jpyc.balanceOf(seller)) - before).to.equal(ETHER);
    expect(await stage.chain.rpc("eth_getTransactionReceipt", [receipt.transaction])).to.include({ status: "0x1" });
    expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: false });
  });

  it("enters the fee of a settlement for its sale, by the key that the sale has", async () => {
    const store = createMemoryStore();
    const payment = await pay();
    const { transaction } = await open(store).settle(payment, offer, never);
    const { from, nonce } = payment.payload.authorization as Eip3009["authorization"];
    const about = `eip155:137:${authorizationId({ from, nonce })}`;
    expect([...store.fees!.values()].map((fee) => [fee.transaction, fee.about])).to.deep.equal([[transaction, about]]);
  });

  it("refuses what is not paid, in words", async () => {
    const facilitator = open();
    const refusals: [PaymentPayload, string][] = [
      [change(await pay(), { value: String(2n * ETHER) }), "invalid_exact_evm_signature"],
      [await pay({ ...offer, amount: "5" }), "invalid_exact_evm_payload_authorization_value_mismatch"],
      [await pay({ ...offer, payTo: stage.buyer.address }), "invalid_exact_evm_recipient_mismatch"],
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
    await stage.jpyc.setPaused(true);
    const [verdict, receipt] = [
      await facilitator.verify(payment, offer, never),
      await facilitator.settle(payment, offer, never),
    ];
    await stage.jpyc.setPaused(false);
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
    const from = stage.proxy.calls.length;
    for (const bad of garbage)
      expect(await facilitator.verify(bad, offer, never)).to.include({
        isValid: false,
        invalidReason: "invalid_payload",
      });
    const elsewhere = { ...offer, asset: seller };
    expect(await facilitator.verify(payment, elsewhere, never)).to.include({ isValid: false });
    expect(stage.proxy.calls.slice(from)).to.deep.equal([]);
  });

  it("reads nothing of a payment but its authorization, so that no other scheme slips in beside it", async () => {
    const payment = await pay();
    const smuggled = {
      ...payment,
      payload: { ...payment.payload, permit2Authorization: { from: stage.buyer.address } },
    };
    expect(await open().verify(smuggled, offer, never)).to.include({ isValid: true });
  });

  it("settles the good ones although one in the middle is refused by the token", async () => {
    const facilitator = open();
    const poor = privateKeyToAccount(generatePrivateKey());
    const payments = await Promise.all(
      Array.from({ length: 9 }, (_, index) => pay(offer, index === 4 ? poor : stage.buyer)),
    );
    const receipts = await Promise.all(payments.map((payment) => facilitator.settle(payment, offer, never)));
    expect(receipts.map(({ success }) => success)).to.deep.equal(payments.map((_, index) => index !== 4));
    expect(receipts[4]).to.include({ errorReason: "invalid_exact_evm_insufficient_balance", transaction: "" });
  });

  it("sends no more of one balance at once than it covers: in one block, the rest would only revert", async () => {
    const facilitator = open();
    const poor = privateKeyToAccount(generatePrivateKey());
    await stage.jpyc.mint(poor.address, 2n * ETHER);
    const payments = await Promise.all(Array.from({ length: 6 }, () => pay(offer, poor)));
    const sent = async (): Promise<number> =>
      Number(await stage.chain.rpc("eth_getTransactionCount", [treasury.address, "pending"]));
    const before = await sent();
    await stage.chain.rpc("evm_setAutomine", [false]);
    const settled = Promise.all(payments.map((payment) => facilitator.settle(payment, offer, never)));
    await eventually(async () => (await sent()) >= before + 2);
    // Each that waits asks for the balance again and again.
    const looks = stage.proxy.calls.length;
    const isAsked = (): boolean => stage.proxy.calls.slice(looks).filter((one) => one === "eth_call").length > 12;
    await eventually(async () => isAsked() || (await sent()) > before + 2);
    await stage.chain.rpc("evm_mine", []);
    await stage.chain.rpc("evm_setAutomine", [true]);
    const receipts = await settled;
    expect(receipts.filter(({ success }) => success)).to.have.length(2);
    const refusals = receipts.flatMap(({ success, errorReason }) => (success ? [] : [errorReason]));
    expect(refusals).to.deep.equal(Array(4).fill("invalid_exact_evm_insufficient_balance"));
    expect(await sent()).to.equal(before + 2);
  });

  it("refuses a payer's contract that burns the treasury's gas", async () => {
    const wallet = "0x00000000000000000000000000000000000a11e7";
    // Loops 60 000 times, then answers ERC-1271's "yes".
    const code = `0x61ea605b6001900380600357507f1626ba7e${"00".repeat(28)}60005260206000f3`;
    await stage.chain.rpc("anvil_setCode", [wallet, code]);
    await stage.jpyc.mint(wallet, ETHER);
    const payment = change(await pay(), { from: wallet });
    const payload = { ...payment.payload, signature: `0x${"12".repeat(66)}` };
    const smart = { ...payment, payload };
    expect(await open().verify(smart, offer, never)).to.include({ isValid: false, payer: wallet });
    expect(await open().settle(smart, offer, never)).to.include({ success: false, transaction: "" });
    expect(await stage.jpyc.balanceOf(wallet)).to.equal(ETHER);
  });
});
