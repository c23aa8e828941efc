import { expect } from "chai";
import { keccak256, toHex } from "viem";
import { bitsOf } from "../../../plugins/ledger/chain/kept.ts";
import ledger from "../../../plugins/ledger/index.ts";
import { createHost, problemOf, serve } from "../host.ts";
import { type BaseNode, startBaseNode, toLogs, toTime, toTopicAddress } from "./base-node.ts";
import { type Answer, between, NEWEST } from "./questions.ts";

describe("a spend summary of a node that prunes, reorganizes or grows", () => {
  let node: BaseNode;
  before(async () => {
    node = await startBaseNode(NEWEST);
  });
  after(() => node.stop());

  async function ask(input: object): Promise<Answer> {
    const clock = { now: () => toTime(NEWEST) * 1000 };
    const reach = { urls: { base: node.url }, retries: 0 };
    return (await (
      await serve("ledger_summary", ledger, createHost({ clock }, reach))
    )(input)) as unknown as Answer;
  }

  it("is not sold where the logs at the beginning of the range are gone", async () => {
    const [first, later] = [NEWEST - 50_000, NEWEST - 20_000];
    const others = [0, 1, 3, 6].map((at) => ({
      from: toTopicAddress(8),
      to: toTopicAddress(9),
      amount: 5n,
      block: first + at,
    }));
    const own = [first + 9, later].map((block) => ({ to: toTopicAddress(1), amount: 1n, block }));
    node.hold([...others, ...own]);
    node.prune(0);
    expect((await ask(between(first, NEWEST))).totals.tx_count).to.equal(2);
    node.prune(later);
    const { code, message } = await problemOf(ask(between(first, NEWEST)));
    expect([code, message]).to.deep.equal(["upstream-failed", `Base node has pruned the logs of block ${first}`]);
    expect((await ask(between(first + 20_000, NEWEST))).totals.tx_count, "blocks without USDC").to.equal(1);
    expect((await ask(between(NEWEST, NEWEST))).totals.tx_count).to.equal(0);
    node.hold(own);
    node.prune(0);
    expect((await ask(between(first, NEWEST))).totals.tx_count, "a quiet beginning").to.equal(2);
  });

  it("leaves out what the node calls removed, also where another transfer has its place now", async () => {
    const pay = (amount: bigint) => toLogs({ to: toTopicAddress(1), amount, block: NEWEST }, 0);
    const removed = pay(2_000_000n).map((log) => ({ ...log, removed: true }));
    for (const [result, usdc] of [
      [removed, "0"],
      [[...pay(3_000_000n), ...removed], "3"],
    ] as const) {
      node.refuse(() => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result }) }));
      expect((await ask(between(NEWEST, NEWEST))).totals.usdc).to.equal(usdc);
    }
  });

  it("is not sold where a log is in no block yet, or at no place in it", async () => {
    for (const key of ["blockNumber", "logIndex"]) {
      const logs = toLogs({ to: toTopicAddress(1), amount: 1n, block: NEWEST }, 0).map((log) => ({
        ...log,
        [key]: null,
      }));
      node.refuse(() => ({ status: 200, body: JSON.stringify({ jsonrpc: "2.0", id: 1, result: logs }) }));
      const { code, message } = await problemOf(ask(between(NEWEST, NEWEST)));
      expect([code, message]).to.deep.equal([
        "upstream-failed",
        "Base node answered with something else than a number",
      ]);
    }
  });

  for (const [byNumber, how] of [
    [false, "is mined while the range is looked for"],
    [true, "is known to one of several nodes behind a balancer"],
  ] as const)
    it(`has the newest block where that ${how}, and reads no more headers`, async () => {
      node.refuse(() => undefined);
      node.hold([0, 1000, 2000].map((back) => ({ to: toTopicAddress(1), amount: 1n, block: NEWEST - back })));
      node.holdBack(byNumber);
      const { range, totals } = await ask(between(NEWEST - 50_000, NEWEST));
      expect(range).to.deep.include({ to_block: NEWEST });
      expect(totals.tx_count).to.equal(3);
      expect(node.headers).to.be.at.most(8);
    });
});

describe("a block's bloom", () => {
  it("has the bits that go-ethereum's has (TestBloomExtensively)", () => {
    const bloom = Buffer.alloc(256);
    for (let at = 0; at < 100; at += 1)
      for (const bit of bitsOf(toHex(`xxxxxxxxxx data ${at} yyyyyyyyyyyyyy`))) {
        const place = 255 - (bit >> 3);
        bloom.writeUInt8(bloom.readUInt8(place) | (1 << (bit & 7)), place);
      }
    expect(keccak256(bloom)).to.equal("0xc8d3ca65cdb4874300a9e39475508f23ed6da09fdbc487f89a2dcf50b09eb263");
  });
});
