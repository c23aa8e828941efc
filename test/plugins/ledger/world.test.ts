import { expect } from "chai";
import ledger from "../../../plugins/ledger/index.ts";
import { type BaseNodeOptions, openBaseNode } from "../../support/world/base-node.ts";
import { createWorldClock, type WorldClock } from "../../support/world/clock.ts";
import { askForPause, type Fault, OVER_RATE_LIMIT } from "../../support/world/manners.ts";
import type { Payment } from "../../support/world/payments.ts";
import type { WorldSource } from "../../support/world/source.ts";
import { createHost, faultsOf, problemOf, serve } from "../host.ts";
import { toTopicAddress, WALLET } from "./base-node.ts";

const PAYMENTS: readonly Payment[] = Array.from({ length: 90 }, (_, at) => ({
  from: WALLET,
  to: toTopicAddress(at % 5),
  asset: "USDC",
  amount: "0.01",
  daysAgo: (at + 0.5) / 3,
}));
/** What public nodes and free plans allow. */
const RATE = { perSecond: 40, burst: 80 };

describe("a spend summary of 30 days, from nodes as they are in the world", () => {
  let clock: WorldClock;
  let node: WorldSource | undefined;
  afterEach(async () => node?.close());

  /** Asks for the last 30 days. Gives the answer, and the seconds that it took by the node's clock. */
  async function ask(options: Partial<BaseNodeOptions>, question: object = {}) {
    clock = createWorldClock();
    node = await openBaseNode({ clock, payments: PAYMENTS, ...options });
    const host = createHost({ clock }, { urls: { base: node.url }, pause: clock.pause });
    const summary = await serve("ledger_summary", ledger, host);
    const began = clock.now();
    const answer = summary({ wallet: WALLET, include_unfiltered: true, ...question });
    return { answer, seconds: () => (clock.now() - began) / 1000 };
  }

  for (const window of [10_000, 2000, 1000])
    it(`is whole within its deadline from a node that searches ${window} blocks at once`, async () => {
      const { answer, seconds } = await ask({ window, manners: { rate: RATE } });
      expect((await answer).totals).to.include({ tx_count: 90, usdc: "0.9" });
      expect(seconds()).to.be.below(45);
    });

  it("is whole where the node allows fewer requests than it says, for a range that can be read so", async () => {
    const manners = { rate: { perSecond: 20, burst: 20 }, refusal: OVER_RATE_LIMIT };
    const { answer, seconds } = await ask({ window: 2000, manners }, { from: daysBefore(7) });
    expect((await answer).totals).to.include({ tx_count: 21 });
    expect(seconds()).to.be.below(45);
  });

  it("is refused before it is charged where the node is too slow, with the days that can be read", async () => {
    const { answer, seconds } = await ask({ window: 1000, manners: { rate: { perSecond: 5, burst: 5 } } });
    expect(await faultsOf(answer)).to.match(
      /^body\.from: Value error, the node can be read for (about \d days?|less than a day) of the range in the time of this call; choose a shorter one, or buy \/v1\/ledger\/report$/,
    );
    expect(seconds()).to.be.below(45);
  });

  it("is made up to now from a node that is a little behind", async () => {
    const { answer } = await ask({ lagSeconds: 290 });
    expect((await answer).totals).to.include({ tx_count: 90 });
  });

  it("fails, and is not charged, where the node is so far behind that payments would be missing", async () => {
    const { answer } = await ask({ lagSeconds: 3600 });
    expect(await problemOf(answer)).to.include({
      code: "upstream-failed",
      message: "Base node is behind: its newest block is of 2027-01-15T06:59:59Z",
    });
  });

  it("is made up to a time that a node which is behind has reached", async () => {
    const { answer } = await ask({ lagSeconds: 3600 }, { to: daysBefore(1) });
    expect((await answer).totals).to.include({ tx_count: 87 });
  });

  const headers = {
    "lacks old blocks": () => null,
    "answers with another block": () => ({ number: "0x1", timestamp: "0x1" }),
  };
  for (const [name, toHeader] of Object.entries(headers))
    it(`fails, and is not charged, where the node ${name}: their payments would be missing`, async () => {
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, result: toHeader() });
      const isOld = (tag: unknown): boolean => tag !== "latest" && Number(tag) < 56_600_000;
      const fault: Fault = ({ name, params }) =>
        name === "eth_getBlockByNumber" && isOld(params[0]) ? { body } : undefined;
      const { answer } = await ask({ manners: { fault } }, { to: daysBefore(1) });
      expect(await problemOf(answer)).to.include({ code: "upstream-failed" });
    });

  it("fails, and is not charged, where the node asks for long pauses alone", async () => {
    const { answer, seconds } = await ask({ manners: { fault: () => askForPause(30) } });
    expect(await problemOf(answer)).to.include({ code: "upstream-failed" });
    expect(seconds()).to.be.below(45);
  });
});

const daysBefore = (days: number): string =>
  new Date(createWorldClock().now() - days * 86_400_000).toISOString().replace(".000Z", "Z");
