import { expect } from "chai";
import { createPublicClient, custom, encodeEventTopics, type Hex, type PublicClient, toHex } from "viem";
import { readIncoming } from "../../../runtime/drivers/evm/incoming.ts";
import { createEvmSettlements } from "../../../runtime/drivers/evm/settlements.ts";
import { EIP3009_ABI } from "../../../runtime/drivers/evm/token-abi.ts";
import { createEvmTransfers } from "../../../runtime/drivers/evm/transfers.ts";

const TOKEN: Hex = `0x${"4".repeat(40)}`;
const SELLER: Hex = `0x${"3".repeat(40)}`;
const hashOf = (digit: string): Hex => `0x${digit.repeat(64)}`;
const TOPICS = encodeEventTopics({ abi: EIP3009_ABI, eventName: "AuthorizationUsed", args: { nonce: hashOf("6") } });

describe("the transfers of a token on an EVM chain", () => {
  /** The transactions by block: one block a second, from 0 on. */
  let mined: Map<bigint, string>;
  let ranges: string[];
  /** The most blocks that the node searches at once. */
  let widest: bigint;
  let receipt: object;
  /** The oldest block that the node has. */
  let oldest: bigint;
  /** The newest block that it has. */
  let newest: bigint;
  /** What each transfer moves. */
  let moved: bigint;
  const chain = {
    request: async () => toHex(9000), // Of its newest block.
    async getBlock({ blockNumber }: { blockNumber: bigint }) {
      if (blockNumber < oldest) throw new Error("pruned history unavailable");
      if (blockNumber > newest) throw new Error("Block could not be found");
      return { timestamp: blockNumber };
    },
    getTransactionReceipt: async () => receipt,
    async getLogs({ fromBlock, toBlock }: { fromBlock: bigint; toBlock: bigint }) {
      if (toBlock - fromBlock + 1n > widest) throw new Error("block range too wide");
      ranges.push(`${fromBlock}-${toBlock}`);
      const found = [...mined].filter(([block]) => block >= fromBlock && block <= toBlock);
      const both = [...found, ...found.map(([block]) => [block, "9"] as const)]; // Each block has a second one.
      const args = { from: TOKEN, to: SELLER, value: moved };
      return both.map(([blockNumber, digit]) => ({ transactionHash: hashOf(digit), args, blockNumber }));
    },
  } as unknown as PublicClient;
  const client = { chainId: 8453, name: "Base", ask: async <T>(work: (of: PublicClient) => Promise<T>) => work(chain) };
  const transfers = createEvmTransfers({ client, asset: TOKEN });
  const read = async (from: number, to: number): Promise<string> => {
    const found = await transfers.read([SELLER], { from: from * 1000, to: to * 1000 });
    return found.map(({ transaction }) => transaction[2]).join("");
  };

  /** An event of a receipt. */
  const toTransfer = (to: Hex = SELLER, address: Hex = TOKEN, value = 7n): object => {
    const topics = encodeEventTopics({ abi: EIP3009_ABI, eventName: "Transfer", args: { from: TOKEN, to } });
    return { address, topics, data: toHex(value, { size: 32 }) };
  };

  beforeEach(() => {
    mined = new Map([
      [10n, "a"],
      [20n, "b"],
      [21n, "c"],
    ]);
    [ranges, widest, receipt, oldest, newest, moved] = [[], 10_000n, {}, 0n, 9000n, 1n];
  });

  it("are those of a span, its first moment included and its last not", async () => {
    expect(await read(10, 20)).to.equal("a9");
    expect(await read(11, 21)).to.equal("b9");
    expect(ranges).to.deep.equal(["10-19", "11-20"]);
  });

  it("are none where nothing was moved: strangers send such to any address", async () => {
    moved = 0n;
    expect(await read(10, 22)).to.equal("");
  });

  it("are read from a node that has no old blocks any more, where the span is recent", async () => {
    [oldest, mined] = [7000n, new Map([[8500n, "d"]])];
    expect(await read(8001, 9000)).to.equal("d9");
    expect(ranges).to.deep.equal(["8001-8999"]);
    expect(await read(6000, 9000).catch(({ message }: Error) => message)).to.contain("pruned history unavailable");
  });

  it("are read from several nodes at one address, of which one is some blocks behind", async () => {
    newest = 8990n;
    expect(await read(10, 8900)).to.equal("abc999");
    expect(await read(8000, 8900)).to.equal("");
  });

  it("are read in smaller parts where the node refuses large ones, none twice and none left out", async () => {
    widest = 700n;
    expect(await read(0, 1300)).to.equal("abc999");
    expect(ranges).to.deep.equal(["0-499", "500-999", "1000-1299"]);
    widest = 5n;
    expect(await read(0, 1300), "as on the free plans of large providers").to.equal("a9b9c9");
    widest = 2n;
    expect(await read(0, 1300).catch(({ message }: Error) => message)).to.contain("block range too wide");
  });

  it("of a transaction are its own, and none while it is reverted", async () => {
    receipt = {
      status: "success",
      blockNumber: 20n,
      logs: [toTransfer(), toTransfer(TOKEN), toTransfer(SELLER, SELLER)],
    };
    const found = await transfers.of(hashOf("b"), [SELLER]);
    const own = { transaction: hashOf("b"), from: TOKEN, to: SELLER, amount: 7n, at: 20_000 };
    expect(found).to.deep.equal([own]);
    expect(await transfers.of("no hash", [SELLER]), "of which no node can be asked").to.deep.equal([]);
    receipt = { ...receipt, status: "reverted" };
    expect(await transfers.of(hashOf("b"), [SELLER])).to.deep.equal([]);
  });

  it("of a transaction are also told by a node that has its receipt, and does not list its events yet", async () => {
    mined.delete(20n);
    receipt = { status: "success", blockNumber: 20n, logs: [toTransfer()] };
    expect(await transfers.of(hashOf("b"), [SELLER])).to.have.length(1);
    expect(ranges).to.deep.equal([]);
  });

  it("are payments by x402 where this token says that an authorization was used, and not where another one does", async () => {
    for (const address of [TOKEN, SELLER]) {
      receipt = { logs: [{ address, data: "0x", topics: [...TOPICS.slice(0, 1), hashOf("0"), hashOf("6")] }] };
      expect(await transfers.isPayment(hashOf("b"))).to.equal(address === TOKEN);
    }
  });

  it("that come by an authorization are payments to an address, unless they move nothing", async () => {
    mined = new Map([[8900n, "d"]]);
    const args = { authorizer: TOKEN, nonce: hashOf("6") };
    const used = {
      address: TOKEN,
      data: "0x",
      topics: encodeEventTopics({ abi: EIP3009_ABI, eventName: "AuthorizationUsed", args }),
    };
    const read = () => readIncoming(client, { asset: TOKEN, payTo: SELLER }, new AbortController().signal);
    for (const [value, payments] of [
      [7n, 2],
      [0n, 0],
    ] as const) {
      receipt = { transactionHash: hashOf("d"), logs: [used, toTransfer(SELLER, TOKEN, value)] };
      expect(await read(), `${value}`).to.have.length(payments);
    }
  });
});

describe("the newest block of an EVM chain", () => {
  it("leaves nothing in memory, however often it is asked for: each question has a client of its own", async () => {
    const { href } = new URL("utils/promise/withCache.js", import.meta.resolve("viem"));
    const { responseCache } = (await import(href)) as { readonly responseCache: ReadonlyMap<string, unknown> };
    const ask = async <T>(work: (of: PublicClient) => Promise<T>) =>
      work(createPublicClient({ transport: custom({ request: async () => "0x2328" }) }));
    const { ping } = createEvmSettlements({ client: { chainId: 8453, name: "Base", ask } });
    const before = responseCache.size;
    for (let asked = 0; asked < 3; asked += 1) expect(await ping(new AbortController().signal)).to.equal(9000n);
    expect(responseCache.size).to.equal(before);
  });
});
