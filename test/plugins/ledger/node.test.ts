import { expect } from "chai";
import fc from "fast-check";
import ledger from "../../../plugins/ledger/index.ts";
import { createHost, faultsOf, problemOf, type Serve, serve } from "../host.ts";
import { type BaseNode, type Moved, startBaseNode, toLogs, toTime, toTopicAddress, WALLET } from "./base-node.ts";
import { type Answer, between, NEWEST, toIso, toMillionths } from "./questions.ts";

describe("a spend summary of a node's logs", () => {
  let node: BaseNode;
  let asking: Serve;
  const now = toTime(NEWEST) * 1000;
  /** The node answers with megabytes in this process, which may be busy: nothing here is about its timeout. */
  const timeoutMs = 60_000;
  const start = (): Promise<Serve> =>
    serve(
      "ledger_summary",
      ledger,
      createHost({ clock: { now: () => now } }, { urls: { base: node.url }, timeoutMs, retries: 0 }),
    );
  const ask = async (input: object): Promise<Answer> => (await asking(input)) as unknown as Answer;
  before(async () => {
    node = await startBaseNode(NEWEST);
  });
  after(() => node.stop());
  beforeEach(async () => {
    node.refuse(() => undefined);
    node.tick(toTime);
    asking = await start();
  });

  /** One transfer of one millionth in every so many blocks. */
  const every = (blocks: number, count: number): Moved[] =>
    Array.from({ length: count }, (_, at) => ({
      to: toTopicAddress(at % 7),
      amount: 1n,
      block: NEWEST - 1 - at * blocks,
    }));

  it("covers the last 30 days up to now when it is not told which", async () => {
    const day = 43_200;
    const blocks = [NEWEST, NEWEST - 30 * day, NEWEST - 30 * day - 1];
    node.hold(blocks.map((block) => ({ to: toTopicAddress(1), amount: 1n, block })));
    const { range, totals } = await ask({ wallet: WALLET });
    expect(range).to.deep.include({ from_block: NEWEST - 30 * day, to_block: NEWEST });
    expect(totals.tx_count).to.equal(2);
  });

  it("begins with the first block of Base when it is asked for everything until a day", async () => {
    node.hold([{ to: toTopicAddress(1), amount: 1n, block: 0 }]);
    for (const from of ["0000-01-01T00:00+05:00", "1970-01-01", null]) {
      const { range, daily, totals } = await ask({ wallet: WALLET, from, to: "2023-06-15" });
      expect(range).to.deep.include({ from: "2023-06-15T00:35:47Z", from_block: 0 });
      expect(daily).to.deep.equal([{ date: "2023-06-15", usdc: "0.000001", tx_count: 1 }]);
      expect(totals.tx_count).to.equal(1);
    }
  });

  it("reads every block of the range once, and none beside it", async () => {
    node.hold([]);
    await ask(between(1_000_001, 2_000_000));
    const parts = node.asked.toSorted((one, other) => one.first - other.first);
    expect(parts.at(0)?.first).to.equal(1_000_001);
    expect(parts.at(-1)?.last).to.equal(2_000_000);
    for (const [at, { first }] of parts.entries()) if (at > 0) expect(first).to.equal((parts[at - 1]?.last ?? 0) + 1);
  });

  const limits = {
    "a range of more than 2000 blocks": 2000,
    "a range of more than 10 blocks": 10,
  };
  const refusals = {
    "a JSON-RPC error": { status: 200, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no"}}' },
    "a limit of results": { status: 200, body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32005,"message":"no"}}' },
    "status 413": { status: 413, body: "no" },
    "a page of HTML": { status: 400, body: "<html>" },
  };
  for (const [limit, most] of Object.entries(limits))
    for (const [name, refusal] of Object.entries(refusals))
      it(`counts everything once although the node refuses ${limit} with ${name}`, async () => {
        node.hold(every(17, 300));
        node.refuse(({ first, last }) => (last - first + 1 > most ? refusal : undefined));
        const { totals } = await ask(between(NEWEST - 6000, NEWEST));
        expect(totals).to.deep.include({ usdc: "0.0003", tx_count: 300, unique_recipients: 7 });
      });

  it("asks for less after a refusal, and for more again when there was none for long", async () => {
    node.hold([]);
    node.refuse(({ first, last }) =>
      last - first + 1 > 2_000 && first < 3_300_000 ? refusals["status 413"] : undefined,
    );
    await ask(between(3_000_000, 5_000_000));
    const sizes = node.asked.map(({ first, last }) => last - first + 1);
    const refused = sizes.filter((size, at) => size > 2_000 && (node.asked[at]?.first ?? 0) < 3_300_000);
    expect(refused.length, "parts that were refused").to.be.below(sizes.length / 4);
    expect(Math.max(...sizes.slice(-8))).to.be.above(20_000);
  });

  it("gives up where a single block is refused", async () => {
    node.hold([{ to: toTopicAddress(1), amount: 1n, block: NEWEST - 2_000_000 }]);
    node.refuse(({ results }) => (results > 0 ? refusals["status 413"] : undefined));
    const { code } = await problemOf(ask(between(NEWEST - 2_000_000, NEWEST)));
    expect(code).to.equal("upstream-failed");
    const asked = node.asked.length;
    for (let again = 0; again < 10; again += 1) await ask(between(NEWEST, NEWEST));
    expect(node.asked.length - asked, "these ten, and three that were under way").to.be.at.most(13);
  });

  it("does not believe logs that it has not asked for", async () => {
    const stray = { from: WALLET, to: toTopicAddress(1), amount: 1n, block: NEWEST };
    for (const moved of [
      { ...stray, from: toTopicAddress(2) },
      { ...stray, block: NEWEST - 1 },
    ]) {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: toLogs(moved, 0) });
      node.refuse(() => ({ status: 200, body }));
      const { message } = await problemOf(ask(between(NEWEST, NEWEST)));
      expect(message).to.equal("Base node answered eth_getLogs with something else");
    }
  });

  it("knows the first and the last transfer in whatever order their logs come", async () => {
    const blocks = [NEWEST - 5, NEWEST - 90_000, NEWEST - 5, NEWEST - 90_000];
    node.hold(blocks.map((block) => ({ to: toTopicAddress(1), amount: 1n, block })));
    node.shuffle();
    const { groups } = await ask(between(NEWEST - 100_000, NEWEST));
    const toHash = (at: number): string => `0x${String(at + 1).padStart(64, "0")}`;
    expect(groups[0]).to.include({ first_tx: toHash(1), last_tx: toHash(2) });
  });

  it("rounds the mean to the millionth, halves up, and puts what is equal in one order", async () => {
    const to = toTopicAddress(1);
    const moved = [1n, 2n].map((amount) => ({ to, amount, block: NEWEST, isAuthorized: false }));
    node.hold([...moved, ...moved.map((one) => ({ ...one, isAuthorized: true }))]);
    const { groups } = await ask({ ...between(NEWEST, NEWEST), group_by: "recipient", include_unfiltered: true });
    expect(groups.map(({ category, avg_call_price }) => [category, avg_call_price])).to.deep.equal([
      ["x402", "0.000002"],
      ["other_transfer", "0.000002"],
    ]);
  });

  it("ends now, whatever the future that it is asked for, and takes 120 days to the second", async () => {
    node.hold([]);
    const { range } = await ask({ wallet: WALLET, to: "2099-01-01" });
    expect(range.to).to.equal(toIso(NEWEST).replace(".000Z", "Z"));
    const days = { wallet: WALLET, from: "2025-08-01", to: "2025-11-28" };
    expect((await ask(days)).granularity).to.equal("week");
    expect(await faultsOf(ask({ ...days, to: "2025-11-29T00:00:00Z" }))).to.have.length(1);
    expect((await ask({ ...days, to: "2025-10-29" })).granularity, "90 days").to.equal("day");
    expect((await ask({ ...days, to: "2025-10-30T00:00:00Z" })).granularity, "and a second").to.equal("week");
  });

  it("takes 25,000 transfers and no more, and says where more are accounted for", async () => {
    node.hold(every(1, 25_000));
    expect((await ask(between(NEWEST - 30_000, NEWEST))).totals.tx_count).to.equal(25_000);
    node.hold(every(1, 25_001));
    expect(await faultsOf(ask(between(NEWEST - 30_000, NEWEST)))).to.deep.equal([
      "body.from: Value error, the range holds more than 25000 transfers; choose a shorter one, or buy /v1/ledger/report",
    ]);
  });

  it("takes times by arithmetic where both ends agree with it, with five headers in all", async () => {
    node.hold(every(40, 500));
    await ask(between(NEWEST - 30_000, NEWEST - 1));
    expect(node.headers).to.be.at.most(5);
  });

  it("takes times from the headers of a chain that keeps another pace", async () => {
    const pace = (block: number): number => toTime(NEWEST) - 3 * (NEWEST - block);
    node.tick(pace);
    node.hold([0, 1, 20_000].map((back) => ({ to: toTopicAddress(1), amount: 1n, block: NEWEST - back })));
    const from = new Date(pace(NEWEST - 20_000) * 1000).toISOString();
    const { range, groups } = await ask({ wallet: WALLET, from, to: new Date(now).toISOString() });
    expect(range).to.deep.include({ from_block: NEWEST - 20_000, to_block: NEWEST });
    expect(groups[0]?.first_at).to.equal(from.replace(".000Z", "Z"));
    expect(groups[0]?.last_at).to.equal(new Date(now).toISOString().replace(".000Z", "Z"));
  });

  it("tells longer ranges than 90 days by the week, from Monday on, without gaps", async () => {
    node.hold(every(432_000, 8));
    const { granularity, daily } = await ask(between(NEWEST - 100 * 43_200, NEWEST));
    expect(granularity).to.equal("week");
    for (const { date } of daily) expect(new Date(date).getUTCDay()).to.equal(1);
    const [first, second] = daily.map(({ date }) => Date.parse(date) / 86_400_000);
    expect((second ?? 0) - (first ?? 0)).to.equal(7);
    expect(daily.reduce((count, { tx_count }) => count + tx_count, 0)).to.equal(8);
  });

  it("counts what came to the wallet, whoever paid, and tells both ways apart", async () => {
    const payers = Array.from({ length: 450 }, (_, at) => toTopicAddress(1000 + at));
    node.hold([
      ...payers.map((from, at) => ({
        from,
        to: WALLET,
        amount: 10_000n,
        block: NEWEST - at,
        isAuthorized: at % 2 === 0,
      })),
      { to: toTopicAddress(1), amount: 5_000n, block: NEWEST - 3 },
    ]);
    const range = between(NEWEST - 1000, NEWEST);
    const inbound = await ask({ ...range, direction: "inbound" });
    expect(inbound.totals).to.deep.include({ usdc: "2.25", tx_count: 225, unique_recipients: 1 });
    const both = await ask({ ...range, direction: "both", include_unfiltered: true });
    expect(both.totals).to.deep.include({ usdc: "4.505", usdc_outbound: "0.005", usdc_inbound: "4.5", tx_count: 451 });
    expect(both.groups.map(({ category, usdc }) => [category, usdc])).to.deep.equal([
      ["x402", "2.25"],
      ["other_transfer", "2.25"],
      ["x402", "0.005"],
    ]);
  });

  it("adds up to the millionth, however it is grouped", async () => {
    const moved = fc.record({
      to: fc.integer({ min: 1, max: 5 }).map(toTopicAddress),
      amount: fc.bigInt({ min: 0n, max: 10n ** 18n }),
      block: fc.integer({ min: NEWEST - 200_000, max: NEWEST }),
      isAuthorized: fc.boolean(),
    });
    const question = fc.record({
      group_by: fc.constantFrom("service", "recipient", "day"),
      include_unfiltered: fc.boolean(),
      min_amount: fc.constantFrom("0", "0.000001", "12.5", "1000000", "10000000000000000"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(moved, { maxLength: 40 }), question, async (chain, options) => {
        node.hold(chain);
        const { totals, groups, daily } = await ask({ ...between(NEWEST - 150_000, NEWEST), ...options });
        const counted = chain.filter(
          ({ amount, block, isAuthorized }) =>
            amount > 0n &&
            amount >= toMillionths(options.min_amount) &&
            block >= NEWEST - 150_000 &&
            (isAuthorized || options.include_unfiltered),
        );
        const total = counted.reduce((sum, { amount }) => sum + amount, 0n);
        expect(toMillionths(String(totals.usdc))).to.equal(total);
        expect(totals.tx_count).to.equal(counted.length);
        for (const parts of [groups, daily])
          expect(parts.reduce((sum, { usdc }) => sum + toMillionths(String(usdc)), 0n)).to.equal(total);
      }),
      { numRuns: 60 },
    );
  });
});
