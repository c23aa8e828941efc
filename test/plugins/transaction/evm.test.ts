import { expect } from "chai";
import { createWalletClient, type Hex, http, parseEther } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { base } from "viem/chains";
import transaction from "../../../plugins/transaction/index.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { eventually } from "../../support/eventually.ts";
import { createHost, problemOf, type Serve, serve } from "../host.ts";

/** Code that creates a contract of three bytes; they revert whatever they are called with. */
const REVERTER = "0x625f5ffd5f526003601df3";
const TO = "0x52908400098527886E0F7030069857D2E4169EE7"; // Of EIP-55.

describe("a transaction of a real EVM chain", () => {
  let chain: EvmChain;
  let decode: Serve;
  const account = privateKeyToAccount(generatePrivateKey());

  before(async () => {
    chain = await startEvmChain({ chainId: base.id });
    await chain.setBalance(account.address, parseEther("1000000000"));
    const urls = { base: chain.url, ethereum: "http://127.0.0.1:9", solana: "http://127.0.0.1:9" };
    decode = await serve("decode_tx", transaction, createHost({}, { urls }));
  });
  after(() => chain.stop());

  const wallet = () => createWalletClient({ account, chain: base, transport: http(chain.url) });
  const ask = (tx_hash: string): ReturnType<Serve> => decode({ chain: "base", tx_hash });
  /** anvil mines a moment after it has answered. */
  const askMined = async (tx_hash: string): ReturnType<Serve> => {
    await eventually(() => chain.rpc("eth_getTransactionReceipt", [tx_hash])); // anvil answers before it mines.
    return ask(tx_hash);
  };
  const timeOf = async (blockNumber: unknown): Promise<number> => {
    const block = await chain.rpc("eth_getBlockByNumber", [`0x${Number(blockNumber).toString(16)}`, false]);
    return Number((block as { timestamp: Hex }).timestamp);
  };

  const transfer = { to: TO, value: 1_234_567_890_123_456_789n, gas: 60_000n } as const;
  const kinds: Record<string, () => Promise<Hex>> = {
    "a legacy transfer": () => wallet().sendTransaction({ ...transfer, type: "legacy" }),
    "an EIP-2930 transfer": () =>
      wallet().sendTransaction({ ...transfer, type: "eip2930", accessList: [{ address: TO, storageKeys: [] }] }),
    "an EIP-1559 transfer": () => wallet().sendTransaction({ ...transfer, type: "eip1559" }),
    "an EIP-7702 transfer": async () => {
      const authorization = await wallet().signAuthorization({ contractAddress: TO, executor: "self" });
      return wallet().sendTransaction({ ...transfer, type: "eip7702", authorizationList: [authorization] });
    },
  };
  for (const [name, send] of Object.entries(kinds))
    it(`is decoded: ${name}`, async () => {
      const tx_hash = await send();
      const { gas_used, block_number, timestamp, ...fields } = await askMined(tx_hash);
      expect(fields).to.deep.equal({
        chain: "base",
        tx_hash,
        status: 1,
        native_currency: "ETH",
        input_calldata_hex: "0x",
        from_address: account.address,
        to_address: TO,
        value_wei: "1234567890123456789",
        value_eth: "1.234567890123456789",
        slot: null,
        block_time: null,
        fee_lamports: null,
        signers: null,
        program_calls: null,
      });
      expect(gas_used).to.be.within(21_000, 60_000);
      expect(timestamp).to.equal(await timeOf(block_number));
    });

  it("is decoded: more ether than a number can count, and one wei", async () => {
    const large = await wallet().sendTransaction({ to: TO, value: parseEther("100000000") + 1n });
    expect(await askMined(large)).to.include({
      value_wei: "100000000000000000000000001",
      value_eth: "100000000.000000000000000001",
    });
    const small = await wallet().sendTransaction({ to: TO, value: 1n });
    expect(await askMined(small)).to.include({ value_wei: "1", value_eth: "0.000000000000000001" });
  });

  it("is decoded: the creation of a contract, and a call of it that reverts", async () => {
    const creation = await askMined(await wallet().sendTransaction({ data: REVERTER }));
    expect(creation).to.include({ status: 1, to_address: null, value_eth: "0", input_calldata_hex: REVERTER });
    const { contractAddress } = (await chain.rpc("eth_getTransactionReceipt", [creation.tx_hash])) as {
      contractAddress: Hex;
    };
    const call = await askMined(
      await wallet().sendTransaction({ to: contractAddress, data: "0xdeadbeef", gas: 50_000n }),
    );
    expect(call).to.include({ status: 0, input_calldata_hex: "0xdeadbeef", value_wei: "0" });
    expect(String(call.to_address).toLowerCase()).to.equal(contractAddress);
    expect(call.block_number).to.be.above(Number(creation.block_number));
  });

  it("is decoded while it is pending, and again when it was mined", async () => {
    await chain.rpc("evm_setAutomine", [false]);
    const tx_hash = await wallet().sendTransaction(transfer);
    expect(await ask(tx_hash)).to.include({
      status: "pending",
      block_number: null,
      timestamp: null,
      gas_used: null,
      from_address: account.address,
      to_address: TO,
      value_eth: "1.234567890123456789",
    });
    await chain.rpc("evm_mine", []);
    await chain.rpc("evm_setAutomine", [true]);
    expect(await ask(tx_hash)).to.include({ status: 1, gas_used: 21_000 });
  });

  it("is not found when nobody sent it", async () => {
    expect((await problemOf(ask(`0x${"12".repeat(32)}`))).code).to.equal("nothing-found");
  });
});
