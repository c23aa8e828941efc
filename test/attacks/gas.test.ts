import { expect } from "chai";
import { type Hex, numberToHex } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { silentLog } from "../../runtime/core/silent-log.ts";
import type { Rail } from "../../runtime/core/x402/rails.ts";
import type { PaymentPayload } from "../../runtime/core/x402/x402.ts";
import { createEvmClient } from "../../runtime/drivers/evm/client.ts";
import { createEvmSender, type EvmSender } from "../../runtime/drivers/evm/sender/sender.ts";
import { createEvmSettlements } from "../../runtime/drivers/evm/settlements.ts";
import { createLocalFacilitator } from "../../runtime/drivers/facilitator/local/local.ts";
import { type EvmChain, startEvmChain } from "../../runtime/sandbox/evm/chain.ts";
import { placeToken, type Token } from "../../runtime/sandbox/evm/tokens.ts";
import { rail } from "../support/chains/chains.ts";
import trapWallet from "../support/chains/contracts/TrapWallet.bytecode.json" with { type: "json" };
import { createScriptedRail, type ScriptedRail } from "../support/chains/scripted-rail.ts";
import { eventually } from "../support/eventually.ts";
import { openShop, ROLL, type Shop } from "../support/sellers/shop.ts";
import { createMemoryStore } from "../support/store/memory-store.ts";

/** Who pays in every test of a shop; here it is a contract. */
const PAYER = "0x1111111111111111111111111111111111111111";
const APPROVES = 0;
const BURNS_IN_TRANSACTIONS = 1;
const BURNS = 2;
const MOST_GAS = 400_000n;
const MOST_LOSSES = 5;

describe("a payer's contract that burns the treasury's gas", () => {
  const treasury = privateKeyToAccount(generatePrivateKey());
  const base = rail("base");
  let chain: EvmChain;
  let token: Token;
  let store: ReturnType<typeof createMemoryStore>;
  let senders: EvmSender[];
  let local: Rail;
  let shop: Shop;
  let nonce = 0;

  const write = (slot: number, value: number): Promise<unknown> =>
    chain.rpc("anvil_setStorageAt", [PAYER, numberToHex(slot, { size: 32 }), numberToHex(value, { size: 32 })]);
  const setMode = (mode: number): Promise<unknown> => write(0, mode);
  const setWork = (rounds: number): Promise<unknown> => write(1, rounds);
  const sentByTreasury = async (): Promise<number> =>
    Number(await chain.rpc("eth_getTransactionCount", [treasury.address, "pending"]));
  const gasUsedBy = async (block: Hex): Promise<bigint> =>
    BigInt(((await chain.rpc("eth_getBlockByNumber", [block, false])) as { gasUsed: Hex }).gasUsed);

  /** As a process opens it. */
  function openRail(): Rail {
    const client = createEvmClient({ url: chain.url, chainId: 8453 });
    const evmAccount = async () => treasury;
    const terms = { client, treasury: { evmAccount }, store, clock: Date, log: silentLog, pollMs: 25 };
    const sender = createEvmSender({ ...terms, feeCapWei: 10n ** 17n });
    senders.push(sender);
    const facilitator = createLocalFacilitator({
      network: "eip155:8453",
      client,
      sender,
      treasury: { evmAddress: async () => treasury.address },
      store,
      tokens: [{ ...base.domain!, asset: base.asset, decimals: base.decimals }],
    });
    return { ...createScriptedRail(), facilitator, settlements: createEvmSettlements({ client }) };
  }

  before(async () => {
    chain = await startEvmChain({ chainId: 8453 });
    token = await placeToken(chain, { ...base.domain!, ...base, address: base.asset });
    await chain.rpc("anvil_setCode", [PAYER, trapWallet.runtimeBytecode.TrapWallet]);
    await chain.setBalance(treasury.address, 10n ** 18n);
    await token.mint(PAYER, 1_000_000_000n);
  });
  after(() => chain.stop());
  beforeEach(async () => {
    await setMode(APPROVES);
    await setWork(0);
    store = createMemoryStore();
    senders = [];
    local = openRail();
    shop = await openShop({ rail: local as ScriptedRail, store });
  });
  afterEach(async () => {
    await shop.close();
    for (const sender of senders) sender.close();
    await chain.rpc("evm_setAutomine", [true]);
  });

  /** What no key has signed: the contract approves it. */
  const pay = (): Promise<string> => shop.pay("/v1/roll", { nonce: ++nonce, signature: `0x${"12".repeat(66)}` });
  const call = (payment: string): Promise<Response> => shop.retry("/v1/roll", ROLL, payment);
  /** Lets the wallet turn once the transactions are in the pool, and mines them. */
  async function turnOnceSent(from: number, count: number): Promise<void> {
    await eventually(async () => (await sentByTreasury()) === from + count);
    await setMode(BURNS);
    await chain.rpc("evm_mine", []);
  }

  it("costs nothing when it approves in simulations alone", async () => {
    await setMode(BURNS_IN_TRANSACTIONS);
    const from = await sentByTreasury();
    for (let time = 0; time < 5; time += 1) expect((await call(await pay())).status).to.equal(402);
    expect([await sentByTreasury(), shop.executions]).to.deep.equal([from, 0]);
  });

  it("costs one transaction for each authorization when it turns after that was sent, and the gas is capped", async () => {
    const from = await sentByTreasury();
    await chain.rpc("evm_setAutomine", [false]);
    const payment = await pay();
    const answer = call(payment);
    await turnOnceSent(from, 1);
    expect((await answer).status).to.equal(402);
    const block = (await chain.rpc("eth_blockNumber", [])) as Hex;
    expect((await gasUsedBy(block)) <= MOST_GAS).to.equal(true);
    await setMode(APPROVES);
    await chain.rpc("evm_setAutomine", [true]);
    for (let time = 0; time < 3; time += 1) expect((await call(payment)).status).to.equal(402);
    expect(await sentByTreasury()).to.equal(from + 1);
    expect((await local.facilitator.warnings?.())?.join()).to.match(/^Base: 1 settlement reverted within a day/);
  });

  it("burns the gas of a few transactions a day in all processes, and no more", async () => {
    const other = await openShop({ rail: openRail() as ScriptedRail, store, baseUrl: shop.url });
    const from = await sentByTreasury();
    await chain.rpc("evm_setAutomine", [false]);
    const payments = await Promise.all(Array.from({ length: 12 }, () => pay()));
    const calls = payments.map((payment, at) =>
      at % 2 === 0 ? call(payment) : other.retry("/v1/roll", ROLL, payment),
    );
    await turnOnceSent(from, MOST_LOSSES);
    const statuses = (await Promise.all(calls)).map(({ status }) => status);
    expect(statuses).to.deep.equal(payments.map(() => 402));
    await setMode(APPROVES);
    await chain.rpc("evm_setAutomine", [true]);
    const later = await call(await pay());
    expect(later.status).to.equal(402);
    expect(((await later.json()) as { error: string }).error).to.include("payer_reverts");
    const next = JSON.parse(Buffer.from(await pay(), "base64").toString()) as PaymentPayload;
    const verdict = await local.facilitator.verify(next, next.accepted, AbortSignal.timeout(30_000));
    expect(verdict, "before any work").to.include({ isValid: false, invalidReason: "invalid_exact_evm_payer_reverts" });
    expect(await sentByTreasury()).to.equal(from + MOST_LOSSES);
    await other.close();
  });

  it("is refused when its own check takes more gas than the allowance, and served when it takes less", async () => {
    const from = await sentByTreasury();
    await setWork(5000);
    expect((await call(await pay())).status).to.equal(402);
    expect(await sentByTreasury()).to.equal(from);
    await setWork(200);
    expect((await call(await pay())).status).to.equal(200);
    expect(await sentByTreasury()).to.equal(from + 1);
  });

  it("is refused when it ends in an odd way, and not taken for a chain that cannot be asked", async () => {
    const code = await chain.rpc("eth_getCode", [PAYER, "latest"]);
    await chain.rpc("anvil_setCode", [PAYER, "0x60205f5f3e"]); // Copies more data than there is.
    const answer = await pay()
      .then(call)
      .finally(() => chain.rpc("anvil_setCode", [PAYER, code]));
    expect(answer.status).to.equal(402);
    expect(((await answer.json()) as { error: string }).error).to.match(/^invalid_signature/);
  });

  it("is served as often as it pays, many times at once", async () => {
    const payments = await Promise.all(Array.from({ length: 20 }, () => pay()));
    const statuses = await Promise.all(payments.map(async (payment) => (await call(payment)).status));
    expect(statuses).to.deep.equal(payments.map(() => 200));
  });
});
