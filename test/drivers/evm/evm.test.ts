import { inspect } from "node:util";
import { expect } from "chai";
import { concat, getContractAddress, type Hex, serializeErc6492Signature, size, toHex, zeroAddress } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { createEvmClient } from "../../../runtime/drivers/evm/client.ts";
import { createEvmReads } from "../../../runtime/drivers/evm/reads.ts";
import { createEvmSettlements } from "../../../runtime/drivers/evm/settlements.ts";
import { type EvmChain, startEvmChain } from "../../../runtime/sandbox/evm/chain.ts";
import { type RpcProxy, startRpcProxy } from "../../support/chains/rpc-proxy.ts";
import { eventually } from "../../support/eventually.ts";
import { thrown } from "../../support/thrown.ts";

const never = new AbortController().signal;
const UNKNOWN = `0x${"ab".repeat(32)}` as const;
const WALLET = "0x00000000000000000000000000000000000a11e7";
/** A contract that answers every call with ERC-1271's "yes" (or, for code ending otherwise, with zeros). */
const says = (word: string): Hex => `0x7f${word.padEnd(64, "0")}60005260206000f3`;
const YES = says("1626ba7e");
const NO = says("ffffffff");

describe("an EVM chain", () => {
  let chain: EvmChain;
  let proxy: RpcProxy;

  before(async () => {
    chain = await startEvmChain({ chainId: 8453 });
    proxy = await startRpcProxy(chain.url);
  });
  after(async () => {
    await proxy.stop();
    await chain.stop();
  });
  afterEach(() => proxy.intervene(() => "pass"));

  const open = () => createEvmClient({ url: proxy.url, chainId: 8453, retries: 2, retryDelayMs: 5, timeoutMs: 5000 });

  describe("the EVM client", () => {
    it("asks for nothing before it is used, and for the chain id once", async () => {
      const from = proxy.calls.length;
      const client = open();
      expect(proxy.calls.slice(from)).to.deep.equal([]);
      await client.ask((viem) => viem.getBlockNumber());
      await client.ask((viem) => viem.getGasPrice());
      expect(proxy.calls.slice(from)).to.deep.equal(["eth_chainId", "eth_blockNumber", "eth_gasPrice"]);
    });

    it("refuses an RPC URL of another chain", async () => {
      for (const [chainId, name] of Object.entries({ 137: "Polygon", 42161: "Arbitrum One", 7: "EVM 7" })) {
        const client = createEvmClient({ url: proxy.url, chainId: Number(chainId) });
        const message = `The RPC URL of ${name} leads to chain 8453 instead of ${chainId}`;
        expect(await thrown(client.ask((viem) => viem.getChainId()))).to.include({ code: "unavailable", message });
      }
    });

    const silences = {
      "a lost connection": "lose",
      "a 503": { status: 503, body: "busy" },
      "a 429": { status: 429, body: "slow down" },
      "no JSON": { status: 200, body: "<html>" },
      "a busy node's error": {
        status: 200,
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32005, message: "limit" } }),
      },
    } as const;
    for (const [what, fate] of Object.entries(silences)) {
      it(`asks again after ${what}`, async () => {
        let left = 2;
        proxy.intervene((method) => (method === "eth_gasPrice" && left-- > 0 ? fate : "pass"));
        expect(await open().ask((viem) => viem.getGasPrice())).to.be.a("bigint");
      });

      it(`gives up when ${what} does not end, and never takes it for an answer that a library made of it`, async () => {
        proxy.intervene((method) => (method === "eth_gasPrice" ? fate : "pass"));
        const from = proxy.calls.length;
        const work = open().ask((viem) => viem.getGasPrice().catch(() => "a library's guess"));
        expect(await thrown(work)).to.include({
          code: "upstream-failed",
          message: "The Base chain could not be asked",
        });
        expect(proxy.calls.slice(from).filter((method) => method === "eth_gasPrice")).to.have.length(3);
      });
    }

    it("lets what the node refuses through as it is, however a contract ends", async () => {
      const call = () => thrown(open().ask((viem) => viem.call({ to: WALLET, data: "0x12345678" })));
      // A revert, a jump to nowhere, more data than there is, too much memory, and too large a contract.
      for (const code of ["0x60006000fd", "0x5f56", "0x60205f5f3e", "0x5f63ffffffff52", "0x62ffffff5f5ff0"]) {
        await chain.rpc("anvil_setCode", [WALLET, code]);
        expect(await call(), code).to.have.property("name", "CallExecutionError");
      }
      for (const message of ["return data out of bounds", "gas uint64 overflow", "stack limit reached 1024 (1023)"]) {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, error: { code: -32000, message } });
        proxy.intervene((method) => (method === "eth_call" ? { status: 200, body } : "pass"));
        expect(await call(), message).to.have.property("name", "CallExecutionError");
      }
    });

    it("ends with the caller's reason when the caller goes", async () => {
      const gone = new AbortController();
      const work = open().ask((viem) => {
        gone.abort(new Error("gone"));
        return viem.getBlockNumber();
      }, gone.signal);
      expect(await thrown(work)).to.have.property("message", "gone");
    });

    it("keeps the secrets of its URL out of every error, and still uses them", async () => {
      const url = `${proxy.url.replace("//", "//operator:hunter2@")}/v2/secret-key`;
      const client = createEvmClient({ url, chainId: 8453, retries: 0 });
      expect(await client.ask((viem) => viem.getBlockNumber())).to.be.a("bigint");
      proxy.intervene(() => ({ status: 401, body: "no" }));
      const error = await thrown(client.ask((viem) => viem.getBlockNumber()));
      expect(inspect(error, { depth: 9, showHidden: true })).not.to.match(/hunter2|secret-key/);
    });
  });

  describe("reads from the EVM", () => {
    const owner = privateKeyToAccount(generatePrivateKey());

    it("tell a mined transaction with its input, block and time", async () => {
      const [from] = (await chain.rpc("eth_accounts", [])) as [Hex];
      const hash = (await chain.rpc("eth_sendTransaction", [{ from, to: from, data: UNKNOWN }])) as Hex;
      await eventually(() => chain.rpc("eth_getTransactionReceipt", [hash])); // anvil answers before it mines.
      const found = await createEvmReads(open()).transaction(hash, never);
      const block = (await chain.rpc("eth_getBlockByNumber", ["latest", false])) as { number: Hex; timestamp: Hex };
      expect({ ...found, from: found?.from.toLowerCase(), to: found?.to?.toLowerCase() }).to.deep.equal({
        hash,
        from,
        to: from,
        input: UNKNOWN,
        status: "success",
        blockNumber: BigInt(block.number),
        blockTime: Number(block.timestamp),
      });
    });

    it("believe no receipt, transaction or block of another one, and no half of one", async () => {
      const [from] = (await chain.rpc("eth_accounts", [])) as [Hex];
      const hash = (await chain.rpc("eth_sendTransaction", [{ from, to: from, data: UNKNOWN }])) as Hex;
      const receipt = (await eventually(() => chain.rpc("eth_getTransactionReceipt", [hash]))) as { blockHash: Hex };
      const transaction = (await chain.rpc("eth_getTransactionByHash", [hash])) as object;
      const block = (await chain.rpc("eth_getBlockByHash", [receipt.blockHash, false])) as object;
      const lies: readonly [method: string, result: object | null][] = [
        ["eth_getTransactionReceipt", { ...receipt, transactionHash: UNKNOWN }],
        ["eth_getTransactionReceipt", { ...receipt, status: null }],
        ["eth_getTransactionReceipt", {}],
        ["eth_getTransactionReceipt", null], // A node that has pruned it.
        ["eth_getTransactionByHash", { ...transaction, hash: UNKNOWN }],
        ["eth_getTransactionByHash", { ...transaction, blockHash: UNKNOWN }],
        ["eth_getTransactionByHash", { ...transaction, input: null }],
        ["eth_getTransactionByHash", null],
        ["eth_getBlockByHash", { ...block, hash: UNKNOWN }],
        ["eth_getBlockByHash", { ...block, timestamp: null }],
        ["eth_getBlockByHash", null],
      ];
      for (const [method, lie] of lies) {
        const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: lie });
        proxy.intervene((asked) => (asked === method ? { status: 200, body } : "pass"));
        const error = await thrown(createEvmReads(open()).transaction(hash, never));
        expect(error, `${method}: ${body}`).to.include({ code: "upstream-failed" });
      }
    });

    it("know nothing of a transaction that is unknown, not mined yet, or taken back", async () => {
      const reads = createEvmReads(open());
      expect(await reads.transaction(UNKNOWN, never)).to.equal(undefined);
      const [from] = (await chain.rpc("eth_accounts", [])) as [Hex];
      await chain.rpc("evm_setAutomine", [false]);
      const hash = (await chain.rpc("eth_sendTransaction", [{ from, to: from }])) as Hex;
      expect(await reads.transaction(hash, never)).to.equal(undefined);
      await chain.rpc("evm_mine", []);
      expect(await reads.transaction(hash, never)).to.include({ hash });
      await chain.rpc("anvil_reorg", [1, []]);
      expect(await reads.transaction(hash, never)).to.equal(undefined);
      await chain.rpc("anvil_dropAllTransactions", []);
      await chain.rpc("evm_setAutomine", [true]);
    });

    it("verify an ordinary account's signature without asking the chain", async () => {
      const signature = await owner.signMessage({ message: "a text" });
      proxy.intervene(() => "lose");
      expect(await createEvmReads(open()).verifyMessage(owner.address, "a text", signature, never)).to.equal(true);
    });

    it("verify a smart account's signature by asking its contract (ERC-1271)", async () => {
      const signature = await owner.signMessage({ message: "a text" });
      const verdictOf = async (code: Hex): Promise<boolean> => {
        await chain.rpc("anvil_setCode", [WALLET, code]);
        return createEvmReads(open()).verifyMessage(WALLET, "a text", signature, never);
      };
      expect(await verdictOf(YES)).to.equal(true);
      const capitals: Hex = `0x${WALLET.slice(2).toUpperCase()}`;
      expect(await createEvmReads(open()).verifyMessage(capitals, "a text", signature, never)).to.equal(true);
      expect(await verdictOf(NO)).to.equal(false);
      // Loops 300 000 times first: a node may give up a call that takes much gas, or need seconds for it.
      const late: Hex = `0x620493e05b6001900380600457507f1626ba7e${"00".repeat(28)}60005260206000f3`;
      expect(await verdictOf(late)).to.equal(false);
    });

    it("verify the signature of a smart account that is not deployed yet (ERC-6492)", async () => {
      const factory = "0x4e59b44847b379578588920cA78FbF26c0B4956C"; // anvil brings it along
      const salt = UNKNOWN;
      const verdictOf = (code: Hex): Promise<boolean> => {
        const bytecode = concat(["0x60", toHex(size(code)), "0x80600b6000396000f3", code]);
        const address = getContractAddress({ opcode: "CREATE2", from: factory, salt, bytecode });
        const data = concat([salt, bytecode]);
        const signature = serializeErc6492Signature({ address: factory, data, signature: "0x1234" });
        return createEvmReads(open()).verifyMessage(address, "a text", signature, never);
      };
      expect(await verdictOf(YES)).to.equal(true);
      expect(await verdictOf(NO)).to.equal(false);
    });

    it("refuse another's signature, another text, and what is no signature", async () => {
      const reads = createEvmReads(open());
      const signature = await owner.signMessage({ message: "a text" });
      const other = privateKeyToAccount(generatePrivateKey()).address;
      expect(await reads.verifyMessage(other, "a text", signature, never)).to.equal(false);
      expect(await reads.verifyMessage(owner.address, "another text", signature, never)).to.equal(false);
      for (const none of ["0x1234", `0x00${"6492".repeat(16)}`, `0x00${"8010".repeat(16)}`] as const)
        expect(await reads.verifyMessage(owner.address, "a text", none, never), none).to.equal(false);
      for (const halting of ["0xfe", "0x60006000fd", "0x50", "0x5b600056"] as const) {
        await chain.rpc("anvil_setCode", [WALLET, halting]);
        expect(await reads.verifyMessage(WALLET, "a text", signature, never), halting).to.equal(false);
      }
    });

    it("refuse every signature of the zero address, which ecrecover answers for what nobody signed", async () => {
      const unsigned: Hex = `0x${"00".repeat(64)}1b`;
      expect(await createEvmReads(open()).verifyMessage(zeroAddress, "a text", unsigned, never)).to.equal(false);
    });

    it("report an outage as an outage, never as an invalid signature", async () => {
      const signature = await owner.signMessage({ message: "a text" });
      await open().ask((viem) => viem.getBlockNumber());
      proxy.intervene((method) => (method === "eth_call" ? { status: 500, body: "" } : "pass"));
      const error = await thrown(createEvmReads(open()).verifyMessage(WALLET, "a text", signature, never));
      expect(error).to.include({ code: "upstream-failed" });
    });
  });

  it("can be pinged while its node answers, and is of this chain", async () => {
    const ping = (chainId: number): Promise<unknown> =>
      createEvmSettlements({ client: createEvmClient({ url: proxy.url, chainId, retries: 0 }) }).ping(never);
    await ping(8453);
    expect(await thrown(ping(1))).to.include({ code: "unavailable" });
    proxy.intervene(() => "lose");
    expect(await thrown(ping(8453))).to.include({ code: "upstream-failed" });
  });
});
