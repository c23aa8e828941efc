import { expect } from "chai";
import fc from "fast-check";
import { createBaseLogs } from "../../../../plugins/wallet/investigate/sources/base-logs.ts";
import {
  type BlockRange,
  type Search,
  searchBack,
} from "../../../../plugins/wallet/investigate/sources/search-back.ts";
import type { Transfer } from "../../../../plugins/wallet/investigate/sources/transfers.ts";
import { Problem, type Upstream } from "../../../../runtime/api/plugin.ts";
import { problemOf } from "../../host.ts";

const BOUNDS = { searches: 150, transfers: 10_000 };
const RANGE = { from: 0n, to: 7_776_000n };

const toTransfer = (block: bigint): Transfer => ({
  id: `${block}:0`,
  tx: String(block),
  from: "a",
  to: "b",
  asset: "USDC",
  units: "1",
  at: Number(block),
});

/** A node that takes searches of so many blocks, with a transfer in each of some. */
function createNode(limit: bigint, blocks: readonly bigint[] = []) {
  const searched: BlockRange[] = [];
  const search: Search = async ({ from, to }) => {
    if (to - from >= limit) return { limit: undefined };
    searched.push({ from, to });
    return blocks.filter((block) => block >= from && block <= to).map((block) => toTransfer(block));
  };
  return { search, searched };
}

describe("the search of a node's logs", () => {
  it("leaves no block out and searches none twice, whatever the node refuses", async () => {
    await fc.assert(
      fc.asyncProperty(fc.bigInt({ min: 1n, max: 10_000_000n }), async (limit) => {
        const { search, searched } = createNode(limit);
        const { since } = await searchBack(search, { range: RANGE, bounds: BOUNDS });
        expect(searched[0]?.to).to.equal(RANGE.to);
        for (const [at, { from }] of searched.slice(0, -1).entries()) expect(searched[at + 1]?.to).to.equal(from - 1n);
        expect(searched.at(-1)?.from).to.equal(since);
      }),
    );
  });

  it("finds everything of half a year at nodes that take 100 000 blocks, and says so", async () => {
    const blocks = [0n, 1n, 3_000_000n, 7_775_999n, 7_776_000n];
    const { transfers, since } = await searchBack(createNode(100_000n, blocks).search, {
      range: RANGE,
      bounds: BOUNDS,
    });
    expect(transfers.map(({ at }) => BigInt(at))).to.deep.equal(blocks);
    expect(since).to.equal(0n);
  });

  it("spends most of its searches on blocks, not on refusals", async () => {
    for (const limit of [10n, 500n, 2000n, 10_000n]) {
      const { search, searched } = createNode(limit);
      await searchBack(search, { range: RANGE, bounds: BOUNDS });
      expect(searched.length, String(limit)).to.be.above(110);
    }
  });

  it("stops at its bounds, with the newest, and says so", async () => {
    const blocks = Array.from({ length: 300 }, (_, at) => 7_776_000n - 1000n * BigInt(at));
    const { transfers, since } = await searchBack(createNode(100_000n, blocks).search, {
      range: RANGE,
      bounds: { searches: 150, transfers: 50 },
    });
    expect(transfers.map(({ at }) => BigInt(at))).to.deep.equal(blocks.slice(0, 50).reverse());
    expect(since > 0n).to.equal(true);
  });

  it("keeps what it has when the node fails on the way", async () => {
    const { search, searched } = createNode(100_000n, [7_776_000n]);
    const failing: Search = (span) =>
      searched.length < 3 ? search(span) : Promise.reject(new Problem("upstream-failed", "The node is gone"));
    expect((await searchBack(failing, { range: RANGE, bounds: BOUNDS })).transfers).to.have.lengthOf(1);
  });

  it("fails when the node fails at once, or refuses even one block", async () => {
    const gone: Search = () => Promise.reject(new Problem("upstream-failed", "The node is gone"));
    expect(await problemOf(searchBack(gone, { range: RANGE, bounds: BOUNDS }))).to.include({
      message: "The node is gone",
    });
    const refusing: Search = async () => ({ limit: undefined });
    expect(await problemOf(searchBack(refusing, { range: RANGE, bounds: BOUNDS }))).to.include({
      message: "The Base node refuses to search its logs",
    });
  });
});

describe("the newest blocks of a node's logs", () => {
  const WALLET = `0x${"a".repeat(40)}`;
  const USDC = "0x833589fcd6edb6e08f4c7c32d4f71b54bda02913";
  const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
  const [NEWEST, LOOK_BACK, GENESIS_SECOND] = [40_000_000, 50_000, 1_686_789_347];
  const toWord = (hex: string): string => `0x${hex.replace("0x", "").padStart(64, "0")}`;
  const toQuantity = (number: number): string => `0x${number.toString(16)}`;

  /** What is read of a node with one payment to the wallet in every so many blocks. */
  function read(every: number) {
    const toLog = (block: number): object => ({
      address: USDC,
      topics: [TRANSFER, toWord("b"), toWord(WALLET)],
      data: toWord("1"),
      blockNumber: toQuantity(block),
      transactionHash: toWord(toQuantity(block)),
      logIndex: "0x0",
    });
    const answer = (method: string, [asked]: readonly unknown[]): unknown => {
      if (method === "eth_getBlockByNumber") {
        const block = asked === "latest" ? NEWEST : Number(asked);
        return { number: toQuantity(block), timestamp: toQuantity(GENESIS_SECOND + 2 * block) };
      }
      const { fromBlock, toBlock, topics } = asked as { fromBlock: string; toBlock: string; topics: unknown[] };
      const [first, last] = [Math.ceil(Number(fromBlock) / every), Math.floor(Number(toBlock) / every)];
      if (topics.length < 3) return []; // What the wallet has sent.
      return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => toLog((first + at) * every));
    };
    const rpc = async (method: string, params: readonly unknown[]) => ({ result: answer(method, params) });
    const clock = { now: () => 1000 * (GENESIS_SECOND + 2 * NEWEST) };
    const node = { id: "base", title: "Base node", rpc } as unknown as Upstream;
    const terms = { clock, until: Number.MAX_SAFE_INTEGER, lookBack: BigInt(LOOK_BACK) };
    const step = <T>(_: string, work: () => Promise<T>): Promise<T> => work();
    return createBaseLogs(node, terms).read(WALLET, { depth: "subject", signal: new AbortController().signal, step });
  }

  it("are called whole where all of them were read, though the chain has older ones", async () => {
    const { transfers, coverage, isCovered, isWhole } = await read(1000);
    expect(transfers).to.have.length(51);
    expect({ isCovered, isWhole }).to.deep.equal({ isCovered: true, isWhole: false });
    expect(coverage).to.equal(
      "USDC on Base by the token's logs of the newest day, which an explorer may not have yet.",
    );
  });

  it("are not called whole where they hold more transfers than an investigation takes", async () => {
    const { transfers, coverage, isCovered } = await read(4);
    expect(transfers).to.have.length(10_000);
    expect(isCovered).to.equal(undefined);
    expect(coverage).to.match(/; older ones were not searched: the bound of this investigation was met\.$/);
  });
});
