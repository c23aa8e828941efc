import { expect } from "chai";
import { type Hex, parseErc6492Signature, serializeErc6492Signature } from "viem";
import type { PaymentPayload } from "../../../runtime/core/x402/x402.ts";
import { placeSmartWalletFactories, SMART_WALLET_FACTORIES } from "../../../runtime/sandbox/evm/smart-wallets.ts";
import { createSmartWallet, type SmartWallet } from "../../support/chains/smart-wallet.ts";
import { eventually } from "../../support/eventually.ts";
import { toSigner } from "../../support/sellers/smart-buyer.ts";
import { createMemoryStore } from "../../support/store/memory-store.ts";
import { ETHER, never, offer, stageFacilitator, treasury } from "./stage.ts";

const DAY_MS = 24 * 60 * 60_000;
const MOST_GAS = 700_000n;
/** Burns all gas that it is given. */
const BURNER = "0xfe";

describe("the in-process facilitator, paid by wallets that are not deployed yet,", () => {
  const stage = stageFacilitator();
  const policy = { factories: SMART_WALLET_FACTORIES, per_day: 2 };
  before(() => placeSmartWalletFactories(stage.chain));

  async function createPayer(): Promise<SmartWallet> {
    const wallet = await createSmartWallet(stage.chain);
    await stage.jpyc.mint(wallet.address, 10n * ETHER);
    return wallet;
  }
  const payFrom = (wallet: SmartWallet): Promise<PaymentPayload> => stage.pay(offer, toSigner(wallet));
  const sent = async (block = "latest"): Promise<number> =>
    Number(await stage.chain.rpc("eth_getTransactionCount", [treasury.address, block]));

  it("deploys the wallet and moves the money in one transaction", async () => {
    const wallet = await createPayer();
    const facilitator = stage.open(undefined, { smartWallets: policy });
    const payment = await payFrom(wallet);
    expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: true, payer: wallet.address });
    const from = await sent();
    const receipt = await facilitator.settle(payment, offer, never);
    expect(receipt).to.include({ success: true, payer: wallet.address });
    expect([await wallet.isDeployed(), await sent()]).to.deep.equal([true, from + 1]);
    expect(await stage.jpyc.balanceOf(wallet.address)).to.equal(9n * ETHER);
  });

  it("deploys none where the manifest names no factories", async () => {
    const wallet = await createPayer();
    const payment = await payFrom(wallet);
    const factory = parseErc6492Signature(payment.payload.signature as Hex).address;
    const verdict = await stage.open().verify(payment, offer, never);
    expect(verdict).to.include({ isValid: false, invalidReason: "eip6492_factory_not_allowed" });
    expect(verdict.invalidMessage).to.include(factory);
    expect(await stage.open().settle(payment, offer, never)).to.include({ success: false, transaction: "" });
  });

  it("deploys no wallet but the payer's own: an ordinary account's payment gets none", async () => {
    const [wallet, payment] = [await createPayer(), await stage.pay()];
    const { factory: address, factoryData: data } = await wallet.account.getFactoryArgs();
    const signature = payment.payload.signature as Hex;
    const wrapped = serializeErc6492Signature({ address: address!, data: data!, signature });
    const greedy = { ...payment, payload: { ...payment.payload, signature: wrapped } };
    const facilitator = stage.open(undefined, { smartWallets: policy });
    const verdict = await facilitator.verify(greedy, offer, never);
    expect(verdict).to.include({ isValid: false, invalidReason: "invalid_exact_evm_signature" });
    expect(await facilitator.settle(greedy, offer, never)).to.include({ success: false, transaction: "" });
    expect(await wallet.isDeployed()).to.equal(false);
  });

  it("deploys so many within a day as the manifest says, in all processes, and serves wallets that stand", async () => {
    let now = Date.now();
    const store = createMemoryStore(() => now);
    const [first, second] = [stage.open(store, { smartWallets: policy }), stage.open(store, { smartWallets: policy })];
    for (const facilitator of [first, second]) {
      const payment = await payFrom(await createPayer());
      expect(await facilitator.settle(payment, offer, never)).to.include({ success: true });
    }
    const wallet = await createPayer();
    const late = await payFrom(wallet);
    const from = await sent();
    for (const facilitator of [first, second]) {
      const verdict = await facilitator.verify(late, offer, never);
      expect(verdict).to.include({ isValid: false, invalidReason: "invalid_exact_evm_too_many_deployments" });
      expect(verdict.invalidMessage).to.match(/^No more wallets are deployed here today/);
      expect(await facilitator.settle(late, offer, never)).to.include({ success: false, transaction: "" });
    }
    expect([await wallet.isDeployed(), await sent()]).to.deep.equal([false, from]);
    await wallet.deploy();
    expect(await second.settle(await payFrom(wallet), offer, never)).to.include({ success: true });
    now += DAY_MS;
    const third = stage.open(store, { smartWallets: policy });
    expect(await third.settle(await payFrom(await createPayer()), offer, never)).to.include({ success: true });
  });

  it("sets a deployment aside for a payment that was verified, until it is settled or some minutes have passed", async () => {
    let now = Date.now();
    const store = createMemoryStore(() => now);
    const facilitator = stage.open(store, { smartWallets: { ...policy, per_day: 1 } });
    const [early, late] = [await payFrom(await createPayer()), await payFrom(await createPayer())];
    expect(await facilitator.verify(early, offer, never)).to.include({ isValid: true });
    expect(await facilitator.verify(late, offer, never)).to.include({ isValid: false });
    now += 5 * 60_000;
    expect(await facilitator.verify(late, offer, never)).to.include({ isValid: true });
  });

  it("counts a deployment for a day also when other payments of its wallet arrive before the block", async () => {
    let now = Date.now();
    const store = createMemoryStore(() => now);
    const facilitator = stage.open(store, { smartWallets: { ...policy, per_day: 1 } });
    const wallet = await createSmartWallet(stage.chain);
    await stage.jpyc.mint(wallet.address, ETHER);
    const [first, second, third] = [await payFrom(wallet), await payFrom(wallet), await payFrom(wallet)];
    const other = await payFrom(await createPayer());
    const from = await sent();
    await stage.chain.rpc("evm_setAutomine", [false]);
    const settling = facilitator.settle(first, offer, never);
    await eventually(async () => (await sent("pending")) === from + 1);
    // The wallet has money for one payment.
    expect(await facilitator.settle(second, offer, never)).to.include({ success: false });
    expect(await facilitator.verify(third, offer, never)).to.include({ isValid: true });
    await stage.chain.rpc("evm_mine", []);
    await stage.chain.rpc("evm_setAutomine", [true]);
    expect(await settling).to.include({ success: true });
    now += 5 * 60_000;
    expect(await facilitator.verify(other, offer, never)).to.include({ isValid: false });
  });

  it("loses one transaction of bounded gas when the deployment turns after it was sent, and none to a retry", async () => {
    const wallet = await createPayer();
    const facilitator = stage.open(undefined, { smartWallets: policy });
    const payment = await payFrom(wallet);
    expect(await facilitator.verify(payment, offer, never)).to.include({ isValid: true });
    const from = await sent();
    const [, factory] = SMART_WALLET_FACTORIES as [Hex, Hex];
    await stage.chain.rpc("evm_setAutomine", [false]);
    const settling = facilitator.settle(payment, offer, never);
    await eventually(async () => (await sent("pending")) === from + 1);
    await stage.chain.rpc("anvil_setCode", [factory, BURNER]);
    await stage.chain.rpc("evm_mine", []);
    expect(await settling).to.include({ success: false, transaction: "" });
    await placeSmartWalletFactories(stage.chain);
    await stage.chain.rpc("evm_setAutomine", [true]);
    const { gasUsed } = (await stage.chain.rpc("eth_getBlockByNumber", ["latest", false])) as { gasUsed: Hex };
    expect(BigInt(gasUsed) <= MOST_GAS, gasUsed).to.equal(true);
    expect(await facilitator.settle(payment, offer, never)).to.include({ success: false, transaction: "" });
    expect([await wallet.isDeployed(), await sent()]).to.deep.equal([false, from + 1]);
    expect(await stage.jpyc.balanceOf(wallet.address)).to.equal(10n * ETHER);
    expect((await facilitator.warnings?.())?.join()).to.match(/^Polygon: 1 settlement reverted within a day/);
    expect(await facilitator.settle(await payFrom(wallet), offer, never)).to.include({ success: true });
  });
});
